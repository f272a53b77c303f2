import type { CommandBackend } from '../../../index.mjs';

/** Where the tools come from: a `CommandHost`, an SDK's own backend, or the module itself, which is the default. */
export type ToolSource = Pick<CommandBackend, 'tools' | 'executeTool'>;

export interface AdapterOptions {
  /**
   * Whether an abort also kills the command of the call: the one that it started, for as long as it runs, and the one
   * that it waits for, while it waits. Default `false`: an abort ends the wait, or a start that is not made yet.
   */
  killOnAbort?: boolean;
}
