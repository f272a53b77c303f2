import { NeuroLink } from '@juspay/neurolink';
import { attach } from 'argvault/neurolink';

export const name = 'neurolink';
export const hasSessions = true;

export async function open({ host, policy, source, options, sessionId, config }) {
  const neurolink = new NeuroLink(config);
  // What NeuroLink reports of a tool by an event; one that nobody listens to would be thrown.
  neurolink.getEventEmitter().on('error', () => {});
  if (sessionId) neurolink.setToolContext({ sessionId });
  const backend = {
    ...source,
    registerBackgroundCommandTools: given => host.registerBackgroundCommandTools(given),
    registerGitTools: given => host.registerGitTools(given),
  };
  await attach(neurolink, policy, backend, options);
  return {
    neurolink,
    backend,
    described: () => host.tools().map(({ name }) => neurolink.getCustomTools().get(name)),
    async call(toolName, params, { signal } = {}) {
      const authContext = signal && { abortSignal: signal };
      const { data, ...rest } = await neurolink.executeTool(toolName, params, { authContext });
      if (rest.success !== true) throw new Error(rest.error);
      return data.isError ? { error: data.error } : { value: data };
    },
  };
}
