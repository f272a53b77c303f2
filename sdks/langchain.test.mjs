import * as driver from './drivers/langchain.mjs';
import { suite } from './suite.mjs';

suite(driver);
