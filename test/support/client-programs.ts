import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

let python: string | undefined;

/** Installs the clients that test the gateway if they are missing, and returns the path of their Python. */
export function prepareClients(): string {
  const script = join(__dirname, '../../scripts/prepare-clients.mjs');
  python ??= execFileSync(process.execPath, [script], { encoding: 'utf8' }).trim();
  return python;
}
