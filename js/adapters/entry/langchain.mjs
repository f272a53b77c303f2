import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import envelope from '../langchain.js';

export const { argvaultTools } = envelope({ DynamicStructuredTool, ToolMessage });
