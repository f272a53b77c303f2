import * as driver from './drivers/mcp-1.mjs';
import { suite } from './suite.mjs';

suite(driver);
