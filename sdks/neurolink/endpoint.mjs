// The one kind of model that NeuroLink lets nobody replace in the process: an endpoint, here on this machine.
import { once } from 'node:events';
import { createServer } from 'node:http';

/** Answers with a call of the tool, then with a word. `seen` is what the model was told. */
export async function openEndpoint(t, toolName, params) {
  const seen = [];
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked = JSON.parse(Buffer.concat(chunks).toString());
    seen.push(asked);
    const isAnswered = asked.input.some(({ type }) => type === 'function_call_output');
    const call = {
      type: 'function_call',
      id: 'fc-1',
      call_id: 'call-1',
      name: toolName,
      arguments: JSON.stringify(params),
    };
    const content = [{ type: 'output_text', text: 'done', annotations: [] }];
    const output = isAnswered ? { type: 'message', role: 'assistant', id: 'm-1', content } : call;
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const reply = { id: 'r-1', object: 'response', created_at: 1, model: 'm', output: [output], usage };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(reply));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  process.env.OPENAI_COMPATIBLE_BASE_URL = `http://127.0.0.1:${server.address().port}/v1`;
  process.env.OPENAI_COMPATIBLE_API_KEY = 'none';
  return seen;
}
