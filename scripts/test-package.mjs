// `npm run test:package`: packs what would be published, and has consumers install and use it.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fail, filesEndingWith, inRoot, install } from './project.mjs';
import { fillPackage } from './published.mjs';

function builtPlatform() {
  const built = existsSync(inRoot('npm')) ? readdirSync(inRoot('npm')) : [];
  const platform = built.find(name => existsSync(inRoot(`argvault.${name}.node`)));
  if (platform === undefined) fail('there is no platform package in npm/. Run `npm run build` first.');
  return platform;
}

/** Packs a folder into `destination`, and answers what npm says of it. */
function pack(folder, destination) {
  const args = ['pack', '--json', '--pack-destination', destination];
  const [made] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }));
  const files = made.files.map(({ path: file, mode }) => ({ path: file, mode }));
  return [made.name, { file: path.join(destination, made.filename), version: made.version, files }];
}

install();
install(inRoot('packaging'));
const platform = builtPlatform();
const folder = mkdtempSync(path.join(tmpdir(), 'argvault-packed-'));
try {
  const packed = [fillPackage(), inRoot('npm', platform)].map(source => pack(source, folder));
  writeFileSync(path.join(folder, 'packed.json'), JSON.stringify(Object.fromEntries(packed)));
  const env = { ...process.env, ARGVAULT_PACKED: folder, ARGVAULT_PLATFORM: platform };
  // One file at a time: package managers keep both cores busy by themselves. The ceiling is for a whole file; each tool
  // that one runs has its own.
  const flags = ['--test', '--test-concurrency=1', '--test-timeout=600000', '--test-reporter=spec'];
  const tests = filesEndingWith('packaging', '.test.mjs').filter(file => !file.includes('node_modules'));
  const { status } = spawnSync(process.execPath, [...flags, ...tests], { stdio: 'inherit', env });
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
