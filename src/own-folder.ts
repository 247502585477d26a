import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Makes a folder for its owner alone. Git leaves out one that was not there, so that no user need list it. */
export function makeOwnFolder(path: string): void {
  const made = mkdirSync(path, { recursive: true, mode: 0o700 });
  if (made !== undefined) writeFileSync(join(path, '.gitignore'), '*\n', { mode: 0o600 });
}
