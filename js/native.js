'use strict';

const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '..');

const UNKNOWN_LIBC = { abi: 'gnu', libc: 'unknown libc' };

/** Which C library this Node runs on; only asked once loading has failed, since the report is slow. */
function libc() {
  // Not every runtime has a report.
  if (typeof process.report?.getReport !== 'function') return UNKNOWN_LIBC;
  const { report } = process;
  const network = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    const glibc = report.getReport()?.header?.glibcVersionRuntime;
    return glibc === undefined ? { abi: 'musl', libc: 'musl' } : { abi: 'gnu', libc: `glibc ${glibc}` };
  } catch {
    return UNKNOWN_LIBC; // Deno asks for a permission first
  } finally {
    report.excludeNetwork = network;
  }
}

const refusal = (message, hint, details) => ({
  code: 'ERR_PLATFORM',
  message: `${message} ${hint}`,
  hint,
  details,
});

function otherSystem({ platform, arch }) {
  const hint = 'Run it on Linux, kernel 5.9 or later; isSupported() tells before a start.';
  const details = { platform, arch, libc: null, expectedFile: null, expectedPackage: null };
  return refusal(`argvault runs on Linux only, and this is ${platform} ${arch}.`, hint, details);
}

/** The file of the candidate that is there, if one is. */
function present(candidates) {
  for (const candidate of candidates) {
    try {
      return require.resolve(candidate);
    } catch {
      // Not this one.
    }
  }
  return undefined;
}

/** Why `file` can't be loaded: the generated loader says "npm has a bug" whatever happened. */
function whyNot(file, cause) {
  try {
    require(file);
  } catch (error) {
    return error;
  }
  return cause;
}

/** What to do, which differs between a clone of the sources and an installed package. */
function recovery(expectedPackage, error) {
  if (error?.code === 'ERR_DLOPEN_DISABLED') {
    return 'Start Node with --allow-addons beside --permission, and without --no-addons.';
  }
  if (error?.name === 'NotCapable')
    return 'Start Deno with --allow-ffi, --allow-read and --allow-env, or with -A.';
  if (fs.existsSync(path.join(ROOT, 'Cargo.toml'))) {
    return `Run \`npm run build\` in ${ROOT} on this very platform; it needs stable Rust and a C linker.`;
  }
  return (
    `Run \`npm install --include=optional argvault\` on this very platform, so that ${expectedPackage} comes with it; ` +
    'where none is published or it does not load, run `npm ci && npm run build` in a clone of argvault, and install what ' +
    '`npm pack` makes there and in its npm/ folder.'
  );
}

/** The one refusal that Rust can't word: the addon itself is not there, or not for this system. */
function notLoaded(cause) {
  const { platform, arch } = process;
  const { abi, libc: lib } = libc();
  const name = `${platform}-${arch}-${abi}`;
  const expectedFile = path.join(ROOT, `argvault.${name}.node`);
  const expectedPackage = `argvault-${name}`;
  const found = present([expectedFile, expectedPackage]);
  const error = found === undefined ? undefined : whyNot(found, cause);
  const reason =
    error === undefined
      ? 'not found'
      : String(error?.message ?? error)
          .split('\n', 1)[0]
          .replace(/\.$/, '');
  const what =
    found === undefined
      ? `was not found: neither the package ${expectedPackage} nor ${expectedFile} is there`
      : `could not be loaded from ${found}: ${reason}`;
  return refusal(
    `argvault's native addon for ${platform} ${arch} (${lib}) ${what}.`,
    recovery(expectedPackage, error),
    { platform, arch, libc: lib, expectedFile, expectedPackage, found: found ?? null, reason },
  );
}

/**
 * Loads the addon. Never throws: importing this package works everywhere.
 * @param {() => object} [requireBinding]
 */
function loadNative(requireBinding = () => require('../binding.js')) {
  if (process.platform !== 'linux') return { error: otherSystem(process) };
  try {
    return { ok: requireBinding() };
  } catch (cause) {
    return { error: notLoaded(cause) };
  }
}

module.exports = { loadNative };
