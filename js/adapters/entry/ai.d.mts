import type { Tool } from 'ai';
import type { ToolResult } from '../../../index.mjs';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** The tools that are registered by now, for `generateText({ tools })` and its like. */
export declare function argvaultTools(
  host?: ToolSource,
  options?: AdapterOptions,
): Record<string, Tool<unknown, ToolResult>>;
