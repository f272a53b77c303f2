// The first command on a fresh clone: installs, builds, and runs the project's own checks through argvault.
import { inRoot, install, run } from './project.mjs';

install();
run(process.execPath, [inRoot('scripts', 'build.mjs'), '--if-stale']);
run(process.execPath, [inRoot('examples', 'checks.mjs')]);
