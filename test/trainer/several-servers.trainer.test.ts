import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type PythonProgram, runPython } from '../../research/support/programs';
import { SMALL_WORLD } from '../../research/world/world';
import { listen } from '../../src/network/listen';
import type { NightProgress } from '../../src/training';
import type { CycleMetrics } from '../../src/training/definitions';
import { readCheckpointManifest } from '../../src/training/policy/serving';
import { metricsKey } from '../../src/training/store-keys';
import type { LeftOut } from '../../src/training/trainer-contract';
import { openTrainingStage, type TrainingStage } from './support/training-stage';

/** What a server does with a request: answers another one, is not ready for it, or dies of it. */
type Whim = (path: string, body: string) => { readonly instead: string } | 'not ready' | 'dies' | null;

/** A real policy server behind a whim. */
interface Whimsical {
  readonly url: string;
  /** Base URL of the server behind. */
  origin: string;
  readonly close: () => Promise<void>;
}

const GROUP = 4;

/** Dies while it samples the first plans. */
const DYING: Whim = (path, body) =>
  path === '/v1/completions' && body.includes(`"n":${GROUP}`) ? 'dies' : null;
/** Is too slow for one checkpoint. */
const LAGGING: Whim = (path, body) =>
  path === '/v1/load_lora_adapter' && body.includes('several-000001') ? 'not ready' : null;
/** Answers for one checkpoint with the weights of an earlier one, under the right name. */
const WRONG: Whim = (path, body) =>
  path === '/v1/completions' && body.includes('several-000002')
    ? { instead: body.replace('several-000002', 'several-warm') }
    : null;

async function openWhimsical(whim: Whim): Promise<Whimsical> {
  const server = createServer((request, response) => {
    const answer = async (): Promise<void> => {
      const { method = 'GET', url = '/' } = request;
      const body = await text(request);
      const does = whim(url, body);
      if (does === 'dies') {
        server.close();
        server.closeAllConnections();
        return;
      }
      if (does === 'not ready') {
        response.writeHead(503).end('{}');
        return;
      }
      const headers = { 'content-type': 'application/json' };
      const sent = method === 'POST' && { body: does?.instead ?? body };
      const said = await fetch(`${served.origin}${url}`, { method, headers, ...sent });
      const told = await said.text();
      response.writeHead(said.status, headers);
      response.end(does === null ? told : told.replace('several-warm', 'several-000002'));
    };
    answer().catch(() => response.destroy());
  });
  const { url } = await listen(server, 0, '127.0.0.1');
  const served: Whimsical = {
    url: `${url}/v1`,
    origin: '',
    close: async () => {
      server.closeAllConnections();
      if (server.listening) await once(server.close(), 'close');
    },
  };
  return served;
}

let servers: readonly Whimsical[];
let behind: readonly PythonProgram[];
let stage: TrainingStage;

beforeAll(async () => {
  servers = await Promise.all([DYING, LAGGING, WRONG].map(openWhimsical));
  stage = await openTrainingStage({
    world: SMALL_WORLD,
    seed: 1,
    warmStartSteps: 40,
    training: {
      run: 'several',
      questions: 2,
      groupSize: GROUP,
      maxDraws: 3,
      keepFlat: true,
      cycles: 3,
      totalCycles: 3,
      gate: { samples: 1 },
      policy: {
        baseUrl: servers.map(({ url }) => url),
        prompt: 'compact',
        maxPromptTokens: 256,
        maxOutputTokens: 160,
      },
    },
  });
  const { artifacts, checkpoints } = stage;
  const places = ['--artifacts', artifacts.url, '--checkpoints', checkpoints];
  behind = await Promise.all([1, 2].map(() => runPython('policy_server', ['--port', '0', ...places])));
  for (const [index, { ready }] of [stage.policyServer, ...behind].entries()) {
    const server = servers[index];
    if (server !== undefined) server.origin = (ready as { readonly url: string }).url;
  }
}, 300_000);

afterAll(async () => {
  await stage.close();
  await Promise.all([...servers.map(({ close }) => close()), ...behind.map((program) => program.stop())]);
});

test('a night samples only from servers that hold its checkpoint, and names the others', async () => {
  const { trainRun, store, temporal } = stage;
  const [dying, lagging, wrong] = servers.map(({ url }) => url);
  const [progress, history] = await stage.whileWorking(async () => {
    const { id } = await stage.training.start({ trainRun, date: '2026-01-10' });
    const night = temporal.client.workflow.getHandle(id);
    return [(await night.result()) as NightProgress, await night.fetchHistory()];
  });
  expect(progress).toMatchObject({ status: 'done', done: 3 });
  // Those of the last checkpoint; the other two were taken back.
  expect(progress.warning).toMatch(
    `the policy server ${dying} is left out: The policy server ${dying} cannot`,
  );
  expect(progress.warning).not.toMatch(lagging ?? '');

  const holders = ['warm', '000001', '000002', '000003'].map(async (name) => {
    return (await readCheckpointManifest(store, { trainRun, name })).servers;
  });
  expect(await Promise.all(holders)).toEqual([[dying, lagging, wrong], [wrong], [lagging], [lagging, wrong]]);
  const reasons = (history.events ?? []).flatMap(({ activityTaskCompletedEventAttributes: completed }) => {
    const [{ data } = {}] = completed?.result?.payloads ?? [];
    const told = Buffer.from(data ?? '').toString('utf8');
    const result = told === '' ? null : (JSON.parse(told) as { leftOut?: LeftOut } | null);
    return result?.leftOut ?? [];
  });
  const reasonOf = (server: string | undefined): string =>
    reasons
      .filter((each) => each.server === server)
      .map(({ why }) => why)
      .join('\n');
  expect(reasonOf(lagging)).toMatch(/load_lora_adapter answers 503/);
  expect(reasonOf(wrong)).toMatch(/differ from the trainer's by .*: it serves other weights/);

  // The trainer computes each reply's log-probabilities again: all were sampled from the weights that learned.
  for (const cycle of [1, 2, 3]) {
    const metrics = await store.read(metricsKey(trainRun, cycle));
    const { update } = JSON.parse(metrics?.toString('utf8') ?? '{}') as CycleMetrics;
    expect(update?.logprobGap).toBeLessThan(1e-4);
  }
}, 300_000);
