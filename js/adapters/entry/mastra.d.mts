import type { Tool } from '@mastra/core/tools';
import type { ToolResult } from '../../../index.mjs';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** The tools that are registered by now, for `new Agent({ tools })`. */
export declare function argvaultTools(
  host?: ToolSource,
  options?: AdapterOptions,
): Record<string, Tool<unknown, ToolResult>>;
