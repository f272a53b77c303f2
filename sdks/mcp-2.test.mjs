import * as driver from './drivers/mcp-2.mjs';
import { suite } from './suite.mjs';

suite(driver);
