import assert from 'node:assert/strict';

/** A client's view of a server with the tools: what the drivers of both versions and of the Claude SDK share. */
export async function connect({ client, server, InMemoryTransport, sessionId, callOptions = o => [o] }) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  theirs.sessionId = sessionId;
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return {
    described: async () => (await client.listTools()).tools,
    async call(name, params, { signal } = {}) {
      const result = await client.callTool({ name, arguments: params }, ...callOptions({ signal }));
      assert.deepEqual(Object.keys(result.content[0]), ['type', 'text']);
      const value = JSON.parse(result.content[0].text);
      assert.equal(result.isError, value.isError === true);
      return result.isError ? { error: value.error } : { value };
    },
    close: () => client.close(),
  };
}
