import type { ToolMessage } from '@langchain/core/messages';
import type { DynamicStructuredTool } from '@langchain/core/tools';
import type { ToolInputSchema, ToolResult } from '../../../index.mjs';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** The tools that are registered by now, for `bindTools`, `createAgent({ tools })` and `ToolNode`. */
export declare function argvaultTools(
  host?: ToolSource,
  options?: AdapterOptions,
): DynamicStructuredTool<ToolInputSchema, unknown, unknown, ToolResult | ToolMessage>[];
