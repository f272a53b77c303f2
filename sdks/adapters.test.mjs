import { suite } from './suite.mjs';

for (const name of ['ai', 'openai-agents', 'langchain', 'mastra', 'mcp-1', 'mcp-2', 'claude-agent-sdk']) {
  suite(await import(`./drivers/${name}.mjs`));
}
