import { tool } from '@openai/agents';
import envelope from '../openai-agents.js';

export const { argvaultTools } = envelope({ tool });
