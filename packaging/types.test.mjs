// Strict TypeScript consumers of every entry point, as each way of resolving modules finds its types.
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { entryPoints, tarballs } from './lib/packed.mjs';
import { consumer, root, run, runNode } from './lib/run.mjs';

const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const folder = consumer({ after });

before(async () => {
  await run(folder, 'npm', ['install', '--no-audit', '--no-fund', '--offline', ...tarballs]);
  const types = path.join(folder, 'node_modules', '@types');
  mkdirSync(types);
  cpSync(path.join(root, 'node_modules/@types/node'), path.join(types, 'node'), { recursive: true });
  const undici = 'node_modules/undici-types';
  cpSync(path.join(root, undici), path.join(folder, undici), { recursive: true });
});

const modes = {
  node16: { module: 'node16', moduleResolution: 'node16', files: ['consumer.mts', 'consumer.cts'] },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext', files: ['consumer.mts', 'consumer.cts'] },
  bundler: { module: 'esnext', moduleResolution: 'bundler', files: ['consumer.mts'] },
};

/** Compiles a consumer, whose errors are what this rejects with. */
async function compile(mode, { specifiers, body = '', ...options }) {
  const { files, ...resolution } = modes[mode];
  // `typeof`: what could not be found would be an error here, also where its value is never used.
  const uses = specifiers
    .map((_, index) => `export type Of${index} = keyof typeof entry${index};`)
    .join('\n');
  const text = load => `${specifiers.map(load).join('\n')}\n${uses}\n`;
  const esm = text((specifier, index) => `import * as entry${index} from '${specifier}';`);
  const cjs = text((specifier, index) => `import entry${index} = require('${specifier}');`);
  writeFileSync(path.join(folder, 'consumer.mts'), esm + body);
  writeFileSync(path.join(folder, 'consumer.cts'), cjs);
  // Without the declarations of a browser, which take most of the time.
  const base = { strict: true, noEmit: true, target: 'es2022', lib: ['es2022'], types: ['node'] };
  const compilerOptions = { ...base, ...resolution, ...options };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  await runNode(folder, tsc, '-p', '.');
}

const strictly = `
import { type SettledStatus, runCommand, isSupported } from 'argvault';
const status: SettledStatus = await runCommand(['node', '--version']);
const reason: string | undefined = isSupported().reason;
export const words: (string | undefined)[] = [status.stdout.artifactId, reason];
// @ts-expect-error a command is an array, not a line
await runCommand('node --version');
`;

const misnamed = `
// @ts-expect-error what isn't exported isn't found
import 'argvault/no-such-entry';
`;

for (const mode of Object.keys(modes)) {
  test(`${mode}: a strict consumer of the package compiles, its own declarations checked too`, () =>
    compile(mode, { specifiers: ['argvault'], skipLibCheck: false, body: strictly }));

  // Declarations of an SDK that isn't installed are that entry point's own business.
  test(`${mode}: every entry point has types, also where its SDK isn't installed`, () => {
    const specifiers = entryPoints().map(({ specifier }) => specifier);
    return compile(mode, {
      specifiers,
      skipLibCheck: true,
      noUncheckedSideEffectImports: true,
      body: misnamed,
    });
  });
}
