import { resolve } from 'node:path';
import { Connection } from '@temporalio/client';
import { configuredServer } from '../../local/configured-server';
import { stillRuns } from '../../local/process-mark';
import { reasonOf } from '../../local/reason-of';
import { readServerRecord } from '../../local/server-record';
import { FOLDER } from '../attach';
import { broken, fine, note, type Finding } from './finding';

const ANSWER_MS = 3_000;

/** The server that a command started now would use, looked at without starting one. */
export async function checkServer(namespace: string): Promise<Finding[]> {
  const silences: Finding[] = [];
  try {
    const say = (line: string): void => {
      silences.push(note('Temporal server', line));
    };
    const configured = await configuredServer({ folder: FOLDER, namespace, say });
    if (configured === null) return [...silences, await checkEmbedded()];
    return [fine('Temporal server', `${configured.address} answers (${configured.source})`)];
  } catch (error) {
    return [broken('Temporal server', reasonOf(error))];
  }
}

async function checkEmbedded(): Promise<Finding> {
  const what = 'Temporal server';
  const record = await readServerRecord(resolve(FOLDER));
  const isRunning = record?.process != null && (await stillRuns(record.process.pid, record.process.mark));
  if (record === null || !isRunning) return fine(what, 'none runs in this folder; solve and up start one');
  const connection = await Connection.connect({ address: record.address, connectTimeout: ANSWER_MS });
  await connection.close();
  return fine(what, `${record.address} answers (this folder's own; page ${record.uiAddress})`);
}
