'use strict';

const argvault = require('../../index.js');
const { toolsOf } = require('./shared.js');

// NeuroLink gives a tool 30 s, which is as long as the longest wait of ours: its answer would come too late.
const TIMEOUT_MS = 35_000;

// Of each instance, the names of tools whose results depend on live state.
const liveTools = new WeakMap();

/** What registration can't say, and a call can: no cached result, and no batch, which drops a tool's own settings. */
function liveToolsOf(neurolink) {
  const known = liveTools.get(neurolink);
  if (known !== undefined) return known;
  const names = new Set();
  const { executeTool } = neurolink;
  neurolink.executeTool = (name, params, options) => {
    const always = names.has(name) && { disableToolCache: true, bypassBatcher: true };
    return executeTool.call(neurolink, name, params, {
      ...(always && { timeout: TIMEOUT_MS }),
      ...options,
      ...always,
    });
  };
  liveTools.set(neurolink, names);
  return names;
}

async function attach(neurolink, policy, host = argvault, options) {
  await host.registerBackgroundCommandTools(policy);
  const hasGit = host.tools().some(({ name }) => name === 'git_log');
  if (!hasGit) await host.registerGitTools({ repoRoot: policy.cwdRoot });
  const live = liveToolsOf(neurolink);
  for (const { name, call, ...tool } of toolsOf(host, options)) {
    // Without a session of the caller's, NeuroLink makes one up for each call.
    const execute = (params, { abortSignal } = {}) =>
      call(params, { sessionId: neurolink.getToolContext()?.sessionId, abortSignal });
    neurolink.registerTool(name, { name, ...tool, execute }, { maxRetries: 0 });
    live.add(name);
  }
  return host;
}

module.exports = { attach };
