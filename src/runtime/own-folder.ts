import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the embedded server's database, the logs and records of commands, and the store. */
export const OWN_FOLDER = '.conductor';

/** Creates a folder that only its owner can access. A new one gets a `.gitignore`, so that users need not list it. */
export function makeOwnFolder(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) writeFileSync(join(path, '.gitignore'), '*\n', { mode: 0o600 });
}
