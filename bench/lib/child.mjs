// One scenario in a process of its own: `node lib/child.mjs NAME SCRATCH RESULT FLOOR PARAMETERS`.
import { writeFileSync } from 'node:fs';
import { Floor } from './floor.mjs';
import { Places } from './scratch.mjs';

const [name, scratch, resultFile, floorFile, parameters] = process.argv.slice(2);
const scenario = await import(`../scenarios/${name}.mjs`);
const floor = floorFile === '' ? undefined : new Floor(floorFile);
const lines = await scenario.run(JSON.parse(parameters), { places: new Places(scratch), floor });
writeFileSync(resultFile, JSON.stringify(lines));
// Runners may leave timers and sockets behind; the result is what counts.
process.exit(0);
