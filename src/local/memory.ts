import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { z } from 'zod';

/** Something that commands remember of this user, whatever folder they run in. */
export interface Memory<Value> {
  readonly file: string;
  readonly schema: z.ZodType<Value>;
}

/** Outside of every folder that could bring its own. */
function pathOf({ file }: Memory<unknown>): string {
  const state = process.env.XDG_STATE_HOME ?? '';
  // A relative one counts as none, as the XDG Base Directory Specification demands.
  return join(isAbsolute(state) ? state : join(homedir(), '.local', 'state'), 'temporal-conductor', file);
}

/** Null if nothing is there, or not the whole of it. */
export async function recall<Value>(memory: Memory<Value>): Promise<Value | null> {
  try {
    return memory.schema.parse(JSON.parse(await readFile(pathOf(memory), 'utf8')));
  } catch {
    return null;
  }
}

export async function keep<Value>(memory: Memory<Value>, value: Value): Promise<void> {
  const path = pathOf(memory);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  await writeFile(unfinished, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, path);
}
