import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { KillableServer } from '../../research/support/killable-server';
import type { Keeping, Memory, RowTime } from '../../research/support/worker';
import { ConductorClient, openStore, type SolveResult } from '../../src';
import type { LedgerRow } from '../../src/store/ledger';
import { readLedger } from '../support/ledger-of';
import { PostgresServer } from '../support/postgres-server';
import { startS3Server } from '../support/s3-server';
import { askAll, persist } from './ask-all';
import type { Evidence } from './evidence';
import type { Victim } from './kill-script';
import { LiveClient } from './live-client';
import { KillableProviders } from './killable-providers';
import { configOf, LIMITS } from './scenario';
import { WorkerFleet } from './worker-fleet';

/** Number of workers that may be killed, besides the one that never is. */
const MORTALS = 2;

type Undo = (() => Promise<void>)[];

/** Prepare a store that all processes of a world share, and return its URL; by kind of store. */
const storeUrls = {
  sqlite: (folder: string) => Promise.resolve(`sqlite:${join(folder, 'store.db')}`),
  s3: async (folder: string, undo: Undo) => {
    await mkdir(join(folder, 's3', 'bucket'), { recursive: true });
    const server = await startS3Server(join(folder, 's3'));
    undo.push(server.close);
    Object.assign(process.env, server.env);
    return 's3://bucket/store';
  },
  postgres: async (_: string, undo: Undo) => {
    const server = await PostgresServer.start();
    undo.push(() => server.close());
    const url = server.url();
    await openStore(url, '/').migrate?.();
    return url;
  },
};

export type StoreKind = keyof typeof storeUrls;

export function isStoreKind(text: string): text is StoreKind {
  return Object.hasOwn(storeUrls, text);
}

/** Settings of a world. */
export interface WorldOptions {
  /** Folder for database, store and logs. */
  readonly folder: string;
  readonly seed: number;
  /** Path of the workflow bundle. */
  readonly bundle: string;
  readonly store: StoreKind;
  /** Called for each request that reaches the providers. */
  readonly onRequest: () => void;
  /** Runs are live, and a client reads their streams. */
  readonly live: boolean;
  /** Called for each piece of text that the client was told. */
  readonly onText: () => void;
}

/** Everything a solve needs, each part a process that can be killed. */
export interface World {
  ask(questions: ReadonlyMap<string, string>, onEnd: () => void): Promise<Map<string, SolveResult | null>>;
  /** Kills with SIGKILL, and resolves when the successor works. */
  kill(victim: Victim): Promise<void>;
  memory(): Promise<Memory>;
  /** Stops the workers, and then collects logs, store and the final traces of the runs. */
  leavings(
    runs: Evidence['runs'],
  ): Promise<Pick<Evidence, 'runs' | 'requests' | 'rows' | 'limits' | 'keepings' | 'heard' | 'broken'>>;
}

/** Opens a world for as long as `work` takes, or until Ctrl-C, and leaves no process behind. */
export async function inWorld<T>(options: WorldOptions, work: (world: World) => Promise<T>): Promise<T> {
  const undo: Undo = [];
  const over = new AbortController();
  const interruption = untilInterrupted(over.signal);
  interruption.catch(() => undefined);
  try {
    return await Promise.race([openWorld(options, undo).then(work), interruption]);
  } finally {
    over.abort();
    for (const close of undo.reverse()) await close();
  }
}

async function untilInterrupted(signal: AbortSignal): Promise<never> {
  await Promise.race(['SIGINT', 'SIGTERM'].map((name) => once(process, name, { signal })));
  throw new Error('It was told to stop.');
}

async function openWorld(
  { folder, seed, bundle, store: kind, onRequest, live, onText }: WorldOptions,
  undo: Undo,
): Promise<World> {
  const server = await KillableServer.start(folder);
  undo.push(() => server.close());
  const providers = await KillableProviders.start({ folder, seed, live }, onRequest);
  undo.push(() => providers.close());
  const connection = await Connection.connect({ address: server.address });
  undo.push(() => connection.close());

  const url = await storeUrls[kind](folder, undo);
  const witness = join(folder, 'keepings.jsonl');
  await writeFile(witness, '');
  const { config, taskQueue } = configOf(providers.url, url);
  const { address } = server;
  const setting = { address, bundle, config, taskQueue, store: url, witness, troubles: seed };
  const fleet = await WorkerFleet.start(setting, MORTALS);
  undo.push(() => fleet.close());
  const reader = new LiveClient({ address, taskQueue, store: url }, folder, onText);
  undo.push(() => reader.close());

  const victims: Readonly<Record<Victim, () => Promise<void>>> = {
    worker: () => fleet.kill(),
    'frozen worker': () => fleet.freeze(),
    server: () => server.kill(),
    providers: () => providers.kill(),
    client: () => reader.kill(),
  };
  const store = openStore(url, folder);
  const temporal = new Client({ connection });
  const conductor = new ConductorClient({ client: temporal, store, taskQueue });
  return {
    ask: (questions, onEnd) => {
      const onStart = (id: string): void => {
        if (live) reader.follow(id);
      };
      return askAll({ conductor, temporal }, questions, { live, onStart, onEnd });
    },
    kill: (victim) => victims[victim](),
    memory: () => fleet.memory(),
    leavings: async (runs) => {
      // A process that was frozen may complete a row after its run has ended, so all are stopped first.
      await reader.ended();
      await fleet.stop();
      const reread = [...runs].map(async ([id, run]) => {
        const trace = run === null ? null : await persist(() => conductor.trace(id));
        return [id, trace] as const;
      });
      const seen = await readWitness(witness);
      const times = seen.filter((line) => 'row' in line);
      return {
        runs: new Map(await Promise.all(reread)),
        requests: providers.requests(),
        rows: (await readLedger(store)).map((row) => byTrueClock(row, times)),
        limits: store.rates === undefined ? [] : LIMITS,
        keepings: seen.filter((line) => 'what' in line),
        heard: reader.heard(),
        broken: [...fleet.broken, ...reader.broken],
      };
    },
  };
}

async function readWitness(file: string): Promise<(Keeping | RowTime)[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Keeping | RowTime);
}

/** Replaces the row's times, by clocks that jump, with those of the witness file, by a clock that does not. */
function byTrueClock(row: LedgerRow, times: readonly RowTime[]): LedgerRow {
  const own = times.filter(
    ({ callId, attempt, startedAt }) =>
      callId === row.callId && attempt === row.attempt && startedAt === row.startedAt,
  );
  const timeOf = (what: RowTime['row']): string | undefined => {
    const at = own.findLast((time) => time.row === what)?.at;
    return at === undefined ? undefined : new Date(at).toISOString();
  };
  const endedAt = row.endedAt === null ? null : (timeOf('closed') ?? row.endedAt);
  return { ...row, startedAt: timeOf('opened') ?? row.startedAt, endedAt };
}
