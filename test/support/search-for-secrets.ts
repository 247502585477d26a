import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { withoutMemos } from '../../src/client/list-runs';
import { S3_SECRET } from './s3-server';
import { loggedLines } from './temporal';

/** The key of every provider in every test, so that one search finds it wherever it leaked. */
export const TEST_KEY = 'sk-test-4f9c2d71b3e8a650';

/** A header's value as well: the key alone might be quoted in parts. */
const SECRETS = [TEST_KEY, 'Bearer sk-', S3_SECRET];

/**
 * Searches everything that the runs of one test left behind: histories with their failures and summaries, the store
 * with its ledger, and the log.
 *
 * @throws Error that names the place of the first find
 */
export async function searchForSecrets(client: Client, taskQueue: string, folder: string): Promise<void> {
  for await (const { workflowId, runId } of withoutMemos(client).list({
    query: `TaskQueue = '${taskQueue}'`,
  })) {
    searchBytes(await historyBytes(client, workflowId, runId), `the history of ${workflowId}`);
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) searchBytes(await readFile(path), path);
  }
  searchBytes(Buffer.from(loggedLines().join('\n')), 'the log');
}

/** All that a run's history holds, payloads as the server has them, to be searched. */
export async function historyBytes(client: Client, workflowId: string, runId?: string): Promise<Buffer> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return Buffer.concat([...partsOf(history)]);
}

/** Every text and every payload. Not by JSON, where payloads are base64, in which nothing is found. */
function* partsOf(value: unknown): Generator<Uint8Array> {
  if (typeof value === 'string') yield Buffer.from(`${value}\n`);
  else if (value instanceof Uint8Array) yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) yield* partsOf(part);
  }
}

function searchBytes(bytes: Buffer, where: string): void {
  for (const secret of SECRETS) {
    if (bytes.includes(secret)) throw new Error(`a key was found in ${where}`);
  }
}
