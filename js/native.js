'use strict';

const fs = require('node:fs');
const path = require('node:path');

const UNKNOWN_LIBC = { abi: 'gnu', libc: 'unknown libc' };

/** Which C library this Node runs on, with its version where that is known. The report that says it is slow. */
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

/** `gnu` or `musl`. The `ldd` of either names its own; where there is none, or none may be read, the report tells. */
function abi() {
  try {
    return fs.readFileSync('/usr/bin/ldd', 'utf8').includes('musl') ? 'musl' : 'gnu';
  } catch {
    return libc().abi;
  }
}

const addonFile = (root, name) => path.join(root, `argvault.${name}.node`);

function requireInstalled(name) {
  // Each is named in full, and within `try`: bundlers and tracers of files look for what is required, and pass over
  // what is missing only there.
  let cause = new Error(`nothing is published for ${name}`);
  try {
    switch (name) {
      case 'linux-x64-gnu':
        return require('argvault-linux-x64-gnu');
      case 'linux-x64-musl':
        return require('argvault-linux-x64-musl');
      case 'linux-arm64-gnu':
        return require('argvault-linux-arm64-gnu');
      case 'linux-arm64-musl':
        return require('argvault-linux-arm64-musl');
    }
  } catch (error) {
    cause = error;
  }
  throw cause;
}

/** The addon that was built here, or else the one of the package for this platform. */
function requireFor(root, abi) {
  const name = `${process.platform}-${process.arch}-${abi}`;
  const built = addonFile(root, name);
  // Asked first: a `require` that finds nothing takes longer than all the rest.
  return fs.existsSync(built) ? require(built) : requireInstalled(name);
}

function requireAddon(root) {
  const usual = abi();
  try {
    return requireFor(root, usual);
  } catch (cause) {
    // A Node that was built for the other one than this system's.
    const own = libc().abi;
    if (own === usual) throw cause;
    return requireFor(root, own);
  }
}

/** Where the first of these is, if one is there. */
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

/** What to do, which differs between a clone of the sources and an installed package. */
function recovery(root, expectedPackage, error) {
  if (error?.code === 'ERR_DLOPEN_DISABLED') {
    return 'Start Node with --allow-addons beside --permission, and without --no-addons.';
  }
  if (error?.name === 'NotCapable')
    return 'Start Deno with --allow-ffi, --allow-read and --allow-env, or with -A.';
  if (fs.existsSync(path.join(root, 'Cargo.toml'))) {
    return `Run \`npm run build\` in ${root} on this very platform; it needs stable Rust and a C linker.`;
  }
  return (
    `Run \`npm install --include=optional argvault\` on this very platform, so that ${expectedPackage} comes with it; ` +
    'where none is published or it does not load, run `npm ci && npm run build` in a clone of argvault, and install what ' +
    '`npm pack` makes of the folders in its npm/ folder.'
  );
}

/** The one refusal that Rust can't word: the addon itself is not there, or not for this system. */
function notLoaded(root, error) {
  const { platform, arch } = process;
  const { abi, libc: lib } = libc();
  const name = `${platform}-${arch}-${abi}`;
  const expectedFile = addonFile(root, name);
  const expectedPackage = `argvault-${name}`;
  const found = present([expectedFile, expectedPackage]);
  const reason =
    found === undefined
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
    recovery(root, expectedPackage, found && error),
    { platform, arch, libc: lib, expectedFile, expectedPackage, found: found ?? null, reason },
  );
}

/**
 * Loads the addon. Never throws: importing this package works everywhere.
 * @param {string} root the package's folder
 * @param {(root: string) => object} [load]
 */
function loadNative(root, load = requireAddon) {
  if (process.platform !== 'linux') return { error: otherSystem(process) };
  try {
    return { ok: load(root) };
  } catch (cause) {
    return { error: notLoaded(root, cause) };
  }
}

module.exports = { loadNative };
