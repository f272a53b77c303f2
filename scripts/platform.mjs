// The packages that carry the binaries, one for each platform, by napi-rs's convention: named after the platform, with
// `os`, `cpu` and `libc` by which a package manager picks the one that fits.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseTriple } from '@napi-rs/cli';
import { inRoot } from './project.mjs';

export const WARDEN = 'argvault-warden';

export const rootManifest = () => JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));

/** `linux-x64-gnu` of `x86_64-unknown-linux-gnu`. */
export const platformOf = triple => parseTriple(triple).platformArchABI;

export const addonOf = platform => `argvault.${platform}.node`;

/** The `package.json` of a platform's package. */
export function platformManifest(platform) {
  const [os, cpu, abi] = platform.split('-');
  const { name, version, license, engines, description } = rootManifest();
  return {
    name: `${name}-${platform}`,
    version,
    description: `${description}: the binaries for ${platform}`,
    license,
    main: addonOf(platform),
    files: [addonOf(platform), WARDEN],
    engines,
    os: [os],
    cpu: [cpu],
    libc: [abi === 'musl' ? 'musl' : 'glibc'],
    // The addon is mapped and the warden executed: both must be files of their own, not entries of Yarn's archives.
    preferUnplugged: true,
  };
}

/** What the published root depends on: each version of it on the very build that belongs to it. */
export function platformDependencies({ name, version, napi } = rootManifest()) {
  return Object.fromEntries(napi.targets.map(triple => [`${name}-${platformOf(triple)}`, version]));
}

/** Puts the binaries that lie at the root into `npm/<platform>/`, ready for `npm pack`. */
export function fillPlatformPackage(platform) {
  const folder = inRoot('npm', platform);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const manifest = platformManifest(platform);
  writeFileSync(`${folder}/package.json`, `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(
    `${folder}/README.md`,
    `# ${manifest.name}\n\nThe binaries of \`argvault\` for ${platform}. Install \`argvault\`.\n`,
  );
  copyFileSync(inRoot('LICENSE'), `${folder}/LICENSE`);
  copyFileSync(inRoot(addonOf(platform)), `${folder}/${addonOf(platform)}`);
  copyFileSync(inRoot(WARDEN), `${folder}/${WARDEN}`);
  chmodSync(`${folder}/${WARDEN}`, 0o755);
  return folder;
}
