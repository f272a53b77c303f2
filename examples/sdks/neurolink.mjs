// NeuroLink. What a model would ask for goes the same way: through `executeTool`.
import { NeuroLink } from '@juspay/neurolink';
import { attach } from 'argvault/neurolink';
import { nextTurn, policy } from './script.mjs';

const neurolink = new NeuroLink();
const commands = await attach(neurolink, policy);

const results = [];
let turn = nextTurn(results);
for (; turn.text === undefined; turn = nextTurn(results)) {
  const { data } = await neurolink.executeTool(turn.toolName, turn.params);
  results.push(data);
}
console.log(turn.text);
console.log(await commands.readArtifact(results[1].stdout.artifactId));
process.exit();
