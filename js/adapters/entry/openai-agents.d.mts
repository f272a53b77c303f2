import type { FunctionTool } from '@openai/agents';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** The tools that are registered by now, for `new Agent({ tools })`. */
export declare function argvaultTools<Context = unknown>(
  host?: ToolSource,
  options?: AdapterOptions,
): FunctionTool<Context>[];
