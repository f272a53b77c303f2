import * as driver from './drivers/claude-agent-sdk.mjs';
import { suite } from './suite.mjs';

suite(driver);
