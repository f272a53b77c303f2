import { dynamicTool, jsonSchema } from 'ai';
import envelope from '../ai.js';

export const { argvaultTools } = envelope({ dynamicTool, jsonSchema });
