import * as driver from './drivers/ai.mjs';
import { suite } from './suite.mjs';

suite(driver);
