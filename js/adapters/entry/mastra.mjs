import { createTool } from '@mastra/core/tools';
import envelope from '../mastra.js';

export const { argvaultTools } = envelope({ createTool });
