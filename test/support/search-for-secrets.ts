import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { loggedLines } from './temporal';

/** The key of every provider in every test, so that one search finds it wherever it leaked. */
export const TEST_KEY = 'sk-test-4f9c2d71b3e8a650';

/** A header's value as well: the key alone might be quoted in parts. */
const SECRETS = [TEST_KEY, 'Bearer sk-'];

/**
 * Searches everything that the runs of one test left behind: histories with their failures and summaries, the store
 * with its ledger, and the log.
 *
 * @throws Error that names the place of the first find
 */
export async function searchForSecrets(client: Client, taskQueue: string, folder: string): Promise<void> {
  for await (const { workflowId, runId } of client.workflow.list({ query: `TaskQueue = '${taskQueue}'` })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    searchBytes(Buffer.from(JSON.stringify(history, decodeBytes)), `the history of ${workflowId}`);
  }
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile()) searchBytes(await readFile(path), path);
  }
  searchBytes(Buffer.from(loggedLines().join('\n')), 'the log');
}

function searchBytes(bytes: Buffer, where: string): void {
  for (const secret of SECRETS) {
    if (bytes.includes(secret)) throw new Error(`a key was found in ${where}`);
  }
}

/** Payloads are bytes; JSON would show them as numbers, in which nothing is found. */
function decodeBytes(_key: string, value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  return isBufferJson(value) ? Buffer.from(value.data).toString('latin1') : value;
}

function isBufferJson(value: unknown): value is { type: 'Buffer'; data: number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}
