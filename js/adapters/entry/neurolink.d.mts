import type { NeuroLink } from '@juspay/neurolink';
import type { BackgroundCommandPolicy, CommandBackend } from '../../../index.mjs';
import type { AdapterOptions, ToolSource } from './shared.mjs';

/** What registers the tools, and what {@link attach} answers with: the host methods of NeuroLink's own runner. */
export type NeuroLinkBackend = ToolSource &
  Pick<
    CommandBackend,
    | 'registerBackgroundCommandTools'
    | 'setBackgroundCommandPolicy'
    | 'startBackgroundCommand'
    | 'getBackgroundCommandStatus'
    | 'awaitBackgroundCommand'
    | 'killBackgroundCommand'
    | 'readBackgroundCommandOutput'
    | 'registerGitTools'
    | 'runGitCommand'
    | 'bankArtifact'
    | 'readArtifact'
  >;

/**
 * Registers the command tools under this policy, and the git tools for `cwdRoot` unless the host has git tools
 * already. NeuroLink neither retries nor caches nor batches them.
 */
export declare function attach<Host extends NeuroLinkBackend = NeuroLinkBackend>(
  neurolink: Pick<NeuroLink, 'executeTool' | 'getToolContext' | 'registerTool'>,
  policy: BackgroundCommandPolicy,
  host?: Host,
  options?: AdapterOptions,
): Promise<Host>;
