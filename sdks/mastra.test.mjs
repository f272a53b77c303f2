import * as driver from './drivers/mastra.mjs';
import { suite } from './suite.mjs';

suite(driver);
