import { createSdkMcpServer } from '@anthropic-ai/claude-agent-sdk';
import envelope from '../claude-agent-sdk.js';

export const { argvaultServer } = envelope({ createSdkMcpServer });
