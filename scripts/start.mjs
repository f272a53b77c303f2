// The first command on a fresh clone: installs, builds, and runs the project's own checks through argvault.
import { inRoot, install, isStale, run } from './project.mjs';

install();
if (isStale()) run(process.execPath, [inRoot('scripts', 'build.mjs')]);
run(process.execPath, [inRoot('examples', 'checks.mjs')]);
