import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { KillableServer } from '../../../research/support/killable-server';
import { runProgram, type ChildProgram } from '../../../research/support/programs';
import type { Keeping } from '../../../research/support/worker';
import { ConductorClient, openStore, renderPlan } from '../../../src';
import { startSimulatedProviders, type Answer, type SimulatedRequest } from '../../../src/testing';
import type { TrainableInput } from '../../../src/training';
import { readLedger } from '../../support/ledger-of';
import { askAll, persist } from '../ask-all';
import type { Evidence, ToolServer } from '../evidence';
import { configOf } from '../scenario';
import { WorkerFleet } from '../worker-fleet';

const SERVER = join(__dirname, 'server.cjs');
const MORTALS = 2;

/** What a server of tools noted of itself or of a call. */
export interface Note {
  readonly what: 'started' | 'begun' | 'ended';
  readonly key?: string;
  readonly pid: number;
}

export type ToolVictim = 'worker' | ToolServer;

/** Workers whose models call tools of two real servers; all of them can be killed. */
export interface ToolWorld {
  ask(questions: ReadonlyMap<string, string>): Promise<Evidence['runs']>;
  /** Counts model calls and what the servers noted. */
  progress(): number;
  /** Kills with SIGKILL. Returns false if there is no such process at the moment. */
  kill(victim: ToolVictim): Promise<boolean>;
  leavings(runs: Evidence['runs']): Promise<Omit<Evidence, 'memory' | 'kills' | 'plannedKills'>>;
  notes(): Note[];
}

/** Calls that a model asks for, by the number of results that it has. */
const SCRIPT: Readonly<Record<number, readonly string[]>> = {
  0: ['desk__pay', 'shop__look'],
  2: ['shop__pay', 'desk__look'],
  4: ['shop__pay', 'desk__pay'],
};

function answerOf({ text, exchanged = [] }: SimulatedRequest): Answer {
  const id = /chaos-\d+-\d+/.exec(text)?.[0] ?? '';
  const results = exchanged.filter(({ kind }) => kind === 'result').length;
  const calls = (SCRIPT[results] ?? []).map((name, index) => ({
    name,
    input: { key: `${id}:${results + index}` },
  }));
  return calls.length === 0 ? 'All is done.' : { text: '', calls };
}

/** Opens a world for as long as `work` takes, and leaves no process behind. */
export async function inToolWorld<T>(
  { folder, seed, bundle }: { readonly folder: string; readonly seed: number; readonly bundle: string },
  work: (world: ToolWorld) => Promise<T>,
): Promise<T> {
  const undo: (() => Promise<void>)[] = [];
  try {
    return await work(await openWorld(folder, seed, bundle, undo));
  } finally {
    for (const close of undo.reverse()) await close();
  }
}

async function openWorld(
  folder: string,
  seed: number,
  bundle: string,
  undo: (() => Promise<void>)[],
): Promise<ToolWorld> {
  const temporal = await KillableServer.start(folder);
  undo.push(() => temporal.close());
  const price = { input: 2, output: 10 };
  const providers = await startSimulatedProviders({ seed, fallback: { price, delayMs: 30 } });
  undo.push(() => providers.close());
  const plan = { steps: [{ worker: 'a', subtask: 'Part 0: carry it out.', sees: [] }] };
  providers.answer('conductor', renderPlan(plan, ['a']));
  providers.answer('a', answerOf);

  const [log, witness] = [join(folder, 'tools.jsonl'), join(folder, 'keepings.jsonl')];
  for (const file of [log, witness]) writeFileSync(file, '');
  process.env.TOOLS_LOG = log;
  let shop = await startShop('0');
  undo.push(() => shop.child.kill());

  const url = `sqlite:${join(folder, 'store.db')}`;
  const { taskQueue, config: usual } = configOf(providers.url, url);
  const config = withTools(usual, providers.url, shop.port);
  const setting = { address: temporal.address, bundle, config, taskQueue, store: url, witness };
  const fleet = await WorkerFleet.start(setting, MORTALS);
  undo.push(() => fleet.close());
  const connection = await Connection.connect({ address: temporal.address });
  undo.push(() => connection.close());
  const client = new Client({ connection });
  const store = openStore(url, folder);
  const conductor = new ConductorClient({ client, store, taskQueue });

  const notes = (): Note[] => linesOf(readFileSync(log, 'utf8')) as Note[];
  const victims: Readonly<Record<ToolVictim, () => Promise<boolean>>> = {
    worker: () => fleet.kill().then(() => true),
    'tools over stdio': () => {
      const started = notes().flatMap(({ what, pid }) => (what === 'started' ? [pid] : []));
      return Promise.resolve(started.reverse().some(killed));
    },
    'tools over HTTP': async () => {
      await shop.child.kill();
      shop = await startShop(shop.port);
      return true;
    },
  };
  return {
    ask: (questions) => {
      const quiet = { live: false, onStart: () => undefined, onEnd: () => undefined };
      return askAll({ conductor, temporal: client }, questions, quiet);
    },
    progress: () => providers.log.length + notes().length,
    kill: (victim) => victims[victim](),
    notes,
    leavings: async (runs) => {
      await fleet.stop();
      const reread = [...runs.keys()].map(
        async (id) => [id, await persist(() => conductor.trace(id))] as const,
      );
      const seen = linesOf(await readFile(witness, 'utf8')) as Keeping[];
      return {
        runs: new Map(await Promise.all(reread)),
        requests: providers.log,
        rows: await readLedger(store),
        limits: [],
        keepings: seen.filter((line) => 'what' in line),
        broken: fleet.broken,
      };
    },
  };
}

function withTools(usual: TrainableInput, url: string, port: string): TrainableInput {
  const tools = (name: string): string[] => [`${name}.pay`, `${name}.look`];
  const bearing = { allow: ['pay', 'look'], repeatable: ['look'], timeout: '20s' as const };
  const model = { provider: 'openai' as const, baseUrl: `${url}/v1`, apiKeyEnv: 'CHAOS_KEY' };
  const price = { input: 2, output: 10 };
  return {
    ...usual,
    workers: [{ id: 'a', ...model, model: 'a', price, tools: [...tools('desk'), ...tools('shop')] }],
    tools: {
      desk: { mcp: { command: [process.execPath, SERVER, 'stdio'], env: ['TOOLS_LOG'] }, ...bearing },
      shop: { mcp: { url: `http://127.0.0.1:${port}/mcp` }, ...bearing },
    },
  };
}

async function startShop(port: string): Promise<{ readonly child: ChildProgram; readonly port: string }> {
  const child = runProgram(process.execPath, [SERVER, port], process.env);
  return { child, port: await child.nextLine() };
}

function killed(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

function linesOf(text: string): unknown[] {
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as unknown);
}
