import type { ToolAnnotations, ToolInputSchema } from '../../../index.mjs';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** What both versions of the SDK have in common: `Server` of 1.x and of 2.x. */
export interface LowLevelServer {
  registerCapabilities(capabilities: { tools?: object }): void;
  assertCanSetRequestHandler(method: string): void;
  // The two versions have no parameter types in common.
  setRequestHandler(...parameters: never[]): void;
}

/** What a handler is told about its request, by 1.x or by 2.x. */
export interface RequestExtra {
  sessionId?: string | undefined;
  signal?: AbortSignal | undefined;
  mcpReq?: { signal: AbortSignal } | undefined;
}

export type McpTool = {
  name: string;
  description: string;
  inputSchema: ToolInputSchema;
  annotations: ToolAnnotations;
};

export interface ToolHandlers {
  /** What answers `tools/list`. */
  list(): { tools: McpTool[] };
  /** What answers `tools/call`; a refusal has `isError: true`. */
  call(
    request: { params: { name: string; arguments?: { [name: string]: unknown } | undefined } },
    extra: RequestExtra,
  ): Promise<{ content: { type: 'text'; text: string }[]; isError: boolean }>;
}

/**
 * Serves the tools of a host. Call it before the server connects; a server that has tools of its own already is
 * refused by the SDK.
 */
export declare function serveTools(
  server: LowLevelServer | { readonly server: LowLevelServer },
  host?: ToolSource,
  options?: AdapterOptions,
): void;

/** The two handlers by themselves, for a server that has other tools, too. */
export declare function toolHandlers(host?: ToolSource, options?: AdapterOptions): ToolHandlers;
