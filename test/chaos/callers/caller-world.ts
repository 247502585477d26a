import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { KillableServer } from '../../../research/support/killable-server';
import { type ChildProgram, runChild } from '../../../research/support/programs';
import type { Keeping } from '../../../research/support/worker';
import { ConductorClient, openStore, renderPlan, type SolveResult } from '../../../src';
import { startSimulatedProviders, type Answer, type SimulatedRequest } from '../../../src/testing';
import { createKey } from '../../../src/gateway/access/keys';
import type { TrainableInput } from '../../../src/training';
import type { GatewaySetting } from '../../durability/programs/gateway';
import type { LedgerRow } from '../../../src/store/ledger';
import { settingsOf } from '../../gateway/stage';
import { readLedger } from '../../support/ledger-of';
import { until } from '../../support/until';
import { persist } from '../ask-all';
import type { Evidence } from '../evidence';
import { configOf } from '../scenario';
import { WorkerFleet } from '../worker-fleet';

const GATEWAY = join(__dirname, '../../durability/programs/gateway.ts');
const MORTALS = 1;

export type CallerVictim = 'gateway' | 'worker' | 'server';

/** A gateway whose clients bring functions; it, its workers and the Temporal server can be killed. */
export interface CallerWorld {
  /** Base URL of the gateway, the same for its successors. */
  readonly url: string;
  /** Secret of a key of the gateway. */
  readonly key: string;
  /** Counts requests to models. */
  progress(): number;
  /** Kills with SIGKILL, and resolves when the successor works. */
  kill(victim: CallerVictim): Promise<true>;
  /** Collects what is left, once the server lists these runs. */
  leavings(ids: readonly string[]): Promise<Omit<Evidence, 'memory' | 'kills' | 'plannedKills'>>;
}

/** Calls that the model asks for, by the number of results that it has: a pair, then one more. */
const SCRIPT: Readonly<Record<number, readonly string[]>> = { 0: ['first', 'second'], 2: ['third'] };

function taskIn(text: string): string {
  return /chaos-\d+-\d+/.exec(text)?.[0] ?? '';
}

function answerOf({ text, exchanged = [] }: SimulatedRequest): Answer {
  const id = taskIn(text);
  const results = exchanged.flatMap((part) => (part.kind === 'result' ? [part.text] : []));
  const calls = (SCRIPT[results.length] ?? []).map((what) => ({
    name: 'carry_out',
    input: { key: `${id}:${what}` },
  }));
  return calls.length === 0 ? `Done: ${results.join(', ')}` : { text: '', calls };
}

/** Opens a world for as long as `work` takes, and leaves no process behind. */
export async function inCallerWorld<T>(
  { folder, seed, bundle }: { readonly folder: string; readonly seed: number; readonly bundle: string },
  work: (world: CallerWorld) => Promise<T>,
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
): Promise<CallerWorld> {
  const temporal = await KillableServer.start(folder);
  undo.push(() => temporal.close());
  const price = { input: 2, output: 10 };
  const providers = await startSimulatedProviders({ seed, fallback: { price, delayMs: 30 } });
  undo.push(() => providers.close());
  const plan = { steps: [{ worker: 'a', subtask: 'Part 0: carry it out.', sees: [] }] };
  providers.answer('conductor', renderPlan(plan, ['a']));
  providers.answer('a', answerOf);

  const witness = join(folder, 'keepings.jsonl');
  writeFileSync(witness, '');
  const url = `sqlite:${join(folder, 'store.db')}`;
  const { taskQueue, config: usual } = configOf(providers.url, url);
  const config = oneWorker(usual, providers.url);
  const { address } = temporal;
  const fleet = await WorkerFleet.start({ address, bundle, config, taskQueue, store: url, witness }, MORTALS);
  undo.push(() => fleet.close());
  const setting = { address, taskQueue, config, store: url, drainMs: 1000 };
  let gateway = await startGateway(setting);
  undo.push(() => gateway.child.kill());
  const connection = await Connection.connect({ address });
  undo.push(() => connection.close());
  const client = new Client({ connection });
  const store = openStore(url, folder);
  const conductor = new ConductorClient({ client, store, taskQueue });
  const { secret } = await createKey(store, settingsOf());

  const victims: Readonly<Record<CallerVictim, () => Promise<void>>> = {
    worker: () => fleet.kill(),
    server: () => temporal.kill(),
    gateway: async () => {
      await gateway.child.kill();
      gateway = await startGateway({ ...setting, port: Number(new URL(gateway.url).port) });
    },
  };
  return {
    url: gateway.url,
    key: secret,
    progress: () => providers.log.length,
    kill: async (victim) => {
      await victims[victim]();
      return true;
    },
    leavings: async (ids) => {
      await fleet.stop();
      const listed = await until(
        () => persist(() => listIds(client)),
        (found) => ids.every((id) => found.includes(id)),
      );
      const traces: SolveResult[] = [];
      for (const id of listed) traces.push(await persist(() => conductor.trace(id)));
      // The gateway names its runs; the audit knows them by their questions.
      const names = new Map(traces.map(({ id, question }) => [id, taskIn(question)]));
      const nameOf = (id: string): string => names.get(id) ?? id;
      const named = (row: LedgerRow): LedgerRow => ({
        ...row,
        rootId: nameOf(row.rootId),
        workflowId: nameOf(row.workflowId),
      });
      const seen = (await readFile(witness, 'utf8')).split('\n').filter((line) => line !== '');
      return {
        runs: new Map(traces.map((trace) => [nameOf(trace.id), trace])),
        requests: providers.log,
        rows: (await readLedger(store)).map(named),
        limits: [],
        keepings: seen.map((line) => JSON.parse(line) as Keeping).filter((line) => 'what' in line),
        broken: fleet.broken,
      };
    },
  };
}

async function listIds({ workflow }: Client): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of workflow.list()) ids.push(workflowId);
  return ids;
}

function oneWorker(usual: TrainableInput, url: string): TrainableInput {
  const model = { provider: 'openai' as const, baseUrl: `${url}/v1`, apiKeyEnv: 'CHAOS_KEY' };
  return { ...usual, workers: [{ id: 'a', ...model, model: 'a', price: { input: 2, output: 10 } }] };
}

async function startGateway(
  setting: GatewaySetting,
): Promise<{ readonly child: ChildProgram; readonly url: string }> {
  const child = runChild(GATEWAY, [JSON.stringify(setting)], process.env);
  return { child, url: String(await child.nextMessage()) };
}
