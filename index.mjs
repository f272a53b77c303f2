import { createRequire } from 'node:module';

// Not by `import`: Node would search the file for the names that it exports, which it then doesn't find, and read it in
// a thread of its own.
const require = createRequire(import.meta.url);
const argvault = require('./index.js');

export const {
  ArgvaultError,
  awaitBackgroundCommand,
  backgroundCommandCounts,
  bankArtifact,
  cleanup,
  CommandHost,
  configureDefaultHost,
  dispose,
  executeTool,
  followLines,
  followOutput,
  getBackgroundCommandPolicy,
  getBackgroundCommandStatus,
  isArgvaultError,
  isSupported,
  killAll,
  killAllBackgroundCommands,
  killBackgroundCommand,
  listCommands,
  readArtifact,
  readArtifactBytes,
  readBackgroundCommandOutput,
  registerBackgroundCommandTools,
  registerGitTools,
  runCommand,
  runGitCommand,
  searchOutput,
  setBackgroundCommandPolicy,
  setToolContext,
  startBackgroundCommand,
  tools,
} = argvault;
