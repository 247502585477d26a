import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Client, Connection } from '@temporalio/client';
import { ConductorClient, type LiveEvent, openStore } from '../../src';
import { persist } from './ask-all';

// A client in a process of its own, made to be killed. It follows each run that a line of stdin names, and records each
// event before it asks for the next one. After a restart it continues where the file ends.

export interface ReaderSetting {
  readonly address: string;
  readonly taskQueue: string;
  readonly store: string;
  /** File that takes one line for each event. */
  readonly file: string;
}

export interface Heard {
  readonly id: string;
  readonly event: LiveEvent;
}

/** Returns the recorded events, without a last line that is incomplete. */
export function readHeard(file: string): Heard[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Heard);
}

async function main(): Promise<void> {
  const { address, taskQueue, store, file } = JSON.parse(process.argv[2] ?? '') as ReaderSetting;
  const content = readFileSync(file);
  truncateSync(file, content.lastIndexOf('\n') + 1);
  const cursors = new Map(readHeard(file).map(({ id, event }) => [id, event]));
  const client = new Client({ connection: Connection.lazy({ address }) });
  const conductor = new ConductorClient({ client, store: openStore(store, '/'), taskQueue });
  const follow = async (id: string): Promise<void> => {
    while (cursors.get(id)?.kind !== 'ended') {
      await persist(async () => {
        for await (const event of conductor.stream(id, { after: cursors.get(id)?.cursor })) {
          appendFileSync(file, `${JSON.stringify({ id, event } satisfies Heard)}\n`);
          cursors.set(id, event);
          console.log(event.kind);
        }
      });
    }
  };
  for await (const id of createInterface({ input: process.stdin })) void follow(id);
  process.exit();
}

if (require.main === module) void main();
