'use strict';

const path = require('node:path');

/** Which C library this Node runs on; only asked once loading has failed, since the report is slow. */
function libc() {
  if (process.platform !== 'linux') return null;
  const { report } = process;
  const network = report.excludeNetwork;
  report.excludeNetwork = true;
  try {
    return report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
  } finally {
    report.excludeNetwork = network;
  }
}

/** The one refusal that Rust can't word: the addon itself is not there. */
function notLoaded(cause) {
  const root = path.join(__dirname, '..');
  const { platform, arch } = process;
  const lib = libc();
  const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
  if (platform !== 'linux') {
    const hint = 'Run it on Linux, kernel 5.9 or later; isSupported() tells before a start.';
    return {
      code: 'ERR_PLATFORM',
      message: `argvault runs on Linux only, and this is ${platform} ${arch}. ${hint}`,
      hint,
      details: { platform, arch, libc: lib, expectedFile: null, reason },
    };
  }
  const expectedFile = path.join(root, `argvault.linux-${arch}-${lib === 'musl' ? 'musl' : 'gnu'}.node`);
  const hint = `Run \`npm run build\` in ${root} (it needs stable Rust) on this very platform.`;
  return {
    code: 'ERR_PLATFORM',
    message:
      `argvault's native addon could not be loaded on ${platform} ${arch} (${lib}): ` +
      `expected ${expectedFile} (${reason}). ${hint}`,
    hint,
    details: { platform, arch, libc: lib, expectedFile, reason },
  };
}

/**
 * Loads the addon. Never throws: importing this package works everywhere.
 * @param {() => object} [requireBinding]
 */
function loadNative(requireBinding = () => require('../binding.js')) {
  try {
    return { ok: requireBinding() };
  } catch (cause) {
    return { error: notLoaded(cause) };
  }
}

module.exports = { loadNative };
