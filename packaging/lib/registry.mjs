// A registry on this machine, with the packages as they would be published and nothing else.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { platformDependencies, platformManifest } from '../../scripts/platform.mjs';
import { manifestIn, packed } from './packed.mjs';

const digest = (algorithm, bytes, encoding) => createHash(algorithm).update(bytes).digest(encoding);

/** The package of a platform that can't be built here: its manifest, by which package managers pass it over. */
function withoutBinaries(name) {
  const folder = mkdtempSync(path.join(tmpdir(), 'argvault-registry-'));
  try {
    mkdirSync(path.join(folder, 'package'));
    const manifest = platformManifest(name.slice('argvault-'.length));
    writeFileSync(path.join(folder, 'package', 'package.json'), JSON.stringify(manifest));
    return { manifest, bytes: execFileSync('tar', ['-czf', '-', '-C', folder, 'package']) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function published(name) {
  if (packed[name] === undefined) return withoutBinaries(name);
  return { manifest: manifestIn(name), bytes: readFileSync(packed[name].file) };
}

/** @returns {Promise<{ url: string, asked: Set<string> }>} where it answers, and the names that it was asked for */
export async function registry(t) {
  const names = ['argvault', ...Object.keys(platformDependencies())];
  const packages = new Map(names.map(name => [name, published(name)]));
  const asked = new Set();

  const document = ({ manifest, bytes }) => ({
    name: manifest.name,
    'dist-tags': { latest: manifest.version },
    // Long ago: package managers hold back what was published just now.
    time: { [manifest.version]: '2020-01-01T00:00:00.000Z' },
    versions: {
      [manifest.version]: {
        ...manifest,
        dist: {
          tarball: `${url}/${manifest.name}/-/${manifest.name}-${manifest.version}.tgz`,
          shasum: digest('sha1', bytes, 'hex'),
          integrity: `sha512-${digest('sha512', bytes, 'base64')}`,
        },
      },
    },
  });

  const server = createServer((request, response) => {
    const [, name, tarball] = decodeURIComponent(request.url).split('/');
    const found = packages.get(name);
    if (found === undefined) return response.writeHead(404).end('{}');
    asked.add(name);
    if (tarball !== undefined) return response.end(found.bytes);
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify(document(found)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${server.address().port}`;
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, asked };
}
