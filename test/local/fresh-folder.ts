import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

afterAll(() => Promise.all(made.map((folder) => rm(folder, { recursive: true, force: true }))));

/** An empty folder that is gone after the test file. */
export async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'conductor-local-'));
  made.push(folder);
  return folder;
}
