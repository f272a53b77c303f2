// Compiled, never run: what a strict CommonJS consumer may rely on.
import argvault = require('argvault');

async function main(host: argvault.CommandBackend): Promise<string | null> {
  await host.setBackgroundCommandPolicy({ allowedExecutables: ['node'], cwdRoot: process.cwd() });
  const status: argvault.SettledStatus = await host.runCommand(['node', '--version']);
  return host.readArtifact(status.stdout.artifactId);
}

void main(new argvault.CommandHost());
void argvault.ArgvaultError.name;
