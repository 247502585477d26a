import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConfigInput } from '../../src';
import type { TrainingInput } from '../../src/training/config/schema';
import { runningServer } from '../../src/local/embedded-server';

/** A folder for one test to run commands in. */
export interface Folder {
  readonly path: string;
  write(file: string, content: string | ConfigInput): Promise<void>;
  remove(): Promise<void>;
}

export async function makeFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'conductor-cli-'));
  return {
    path,
    write: (file, content) =>
      writeFile(join(path, file), typeof content === 'string' ? content : stringify(content)),
    remove: () => rm(path, { recursive: true, force: true }),
  };
}

/** Returns a pool of Conductor `boss` and workers `alpha` and `beta`, all behind one OpenAI-compatible server. */
export function poolAt(url: string, changes: Partial<ConfigInput> = {}): ConfigInput {
  const served = { provider: 'openai', baseUrl: `${url}/v1` } as const;
  return {
    conductor: { ...served, model: 'boss' },
    workers: [
      { ...served, id: 'alpha', model: 'alpha' },
      { ...served, id: 'beta', model: 'beta' },
    ],
    ...changes,
  };
}

/** Returns a `training:` section for a tiny model. */
export function trainingOf(changes: TrainingInput = {}): TrainingInput {
  const data = { train: 'questions.jsonl', heldOut: 'held-out.jsonl' };
  return { profile: 'cpu-demo', data, policy: { baseUrl: 'http://127.0.0.1:9/v1' }, ...changes };
}

/** Whether the embedded server of a folder runs. */
export async function serverRuns(folder: Folder): Promise<boolean> {
  return (await runningServer(join(folder.path, '.conductor'))) !== null;
}

/** Returns the address and process id of a folder's embedded server. */
export async function recordOf(folder: Folder): Promise<{ readonly address: string; readonly pid: number }> {
  const text = await readFile(join(folder.path, '.conductor', 'server.json'), 'utf8');
  return JSON.parse(text) as { address: string; pid: number };
}
