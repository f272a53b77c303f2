// Compiled, never run.
import { NeuroLink } from '@juspay/neurolink';
import * as argvault from 'argvault';
import { CommandHost, type SettledStatus } from 'argvault';
import { attach } from 'argvault/neurolink';

const neurolink = new NeuroLink();
const policy = { allowedExecutables: ['git'], cwdRoot: '/' };

const commands = await attach(neurolink, policy);
const { taskId } = await commands.startBackgroundCommand(['npm', 'test']);
const status: SettledStatus = await commands.awaitBackgroundCommand(taskId);
export const whole: string | null = await commands.readArtifact(status.stdout.artifactId);

const host: CommandHost = await attach(neurolink, policy, new CommandHost(), { killOnAbort: true });
await host.dispose();
export const { isSupported } = await attach(neurolink, policy, argvault);
