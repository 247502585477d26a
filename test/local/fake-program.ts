import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshFolder } from './fresh-folder';

/** Writes a shell script of that name into a new folder, and returns the folder. */
export async function fakeProgram(name: string, script: string): Promise<string> {
  const folder = await freshFolder();
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
}
