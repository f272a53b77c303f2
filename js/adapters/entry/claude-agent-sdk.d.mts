import type { McpSdkServerConfigWithInstance } from '@anthropic-ai/claude-agent-sdk';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** An in-process server with the tools of a host, for `query({ options: { mcpServers: { argvault } } })`. */
export declare function argvaultServer(
  host?: ToolSource,
  options?: AdapterOptions,
): McpSdkServerConfigWithInstance;
