import { resolve } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import type { TemporalServer } from '../local/configured-server';
import { claimDatabase, databasePath } from '../local/own-database';
import { FOLDER } from './load-settings';
import { say } from './terminal';
import { askPerson, grant, granted } from './trust';

/**
 * Lets a worker begin beside the embedded server only if the runs there are this user's, or trusted: what they may spend
 * was decided by whoever started them.
 *
 * @throws UsageError that names the open runs, where no one can be asked or the answer is no
 */
export async function requireOwnRuns(server: TemporalServer, isTrusted = false): Promise<void> {
  const folder = resolve(FOLDER);
  const pair = `RUNS=${folder}`;
  if (granted().includes(pair)) return;
  if (!server.isOwn && !isTrusted) {
    await askPerson({
      what:
        `${databasePath(folder)} was not made by you on this machine. What is scheduled there, and its open runs ` +
        `(${await openRuns(server)}), would go on with your keys, within limits that others may have set. To begin ` +
        `without them, remove ${folder}.`,
      question: 'Do you trust this folder with that, from now on?',
      otherwise: `remove ${folder}`,
      pairs: [pair],
    });
  }
  if (!server.isOwn) await claimDatabase(folder, say);
  // For the worker of `up`, should nothing have been remembered.
  grant([pair]);
}

const MOST_NAMED = 3;

async function openRuns({ connection: place, namespace }: TemporalServer): Promise<string> {
  const connection = await Connection.connect(place);
  try {
    const { workflow } = new Client({ connection, namespace });
    const ids: string[] = [];
    for await (const { workflowId } of workflow.list({ query: 'ExecutionStatus = "Running"' })) {
      if (ids.push(workflowId.slice(0, 100)) > MOST_NAMED) break;
    }
    if (ids.length === 0) return 'none';
    return ids.length > MOST_NAMED ? [...ids.slice(0, MOST_NAMED), '…'].join(', ') : ids.join(', ');
  } finally {
    await connection.close();
  }
}
