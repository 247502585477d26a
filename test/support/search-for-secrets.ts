import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { withoutMemos } from '../../src/client/find-runs';
import { S3_SECRET } from './s3-server';
import { loggedLines } from './temporal';

/** API key of every provider in every test, so that one search finds any leak. */
export const TEST_KEY = 'sk-test-4f9c2d71b3e8a650';

/** Texts to search for; also the beginning of the header's value, since a key may leak in part. */
const SECRETS = [TEST_KEY, 'Bearer sk-', S3_SECRET];

/** Lines of the log that an earlier test's end has searched. */
let searchedLines = 0;

/**
 * Searches everything that the runs of a test left behind: histories with failures and summaries, the store with its
 * ledger, and the log.
 *
 * @throws Error that names the first place with a secret
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
  const lines = loggedLines();
  searchBytes(Buffer.from(lines.slice(searchedLines).join('\n')), 'the log');
  searchedLines = lines.length;
}

/** Returns the searchable content of a run's history, with payloads as the server stores them. */
export async function historyBytes(client: Client, workflowId: string, runId?: string): Promise<Buffer> {
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  return Buffer.concat([...partsOf(history)]);
}

/** Yields every text and payload. JSON would not do: its payloads are base64, in which no text is found. */
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
