import * as driver from './drivers/openai-agents.mjs';
import { suite } from './suite.mjs';

suite(driver);
