import OpenAI from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { LiveEvent } from '../../src';
import { readRunNow } from '../../src/client';
import { readSpending } from '../../src/gateway/access';
import { createKey, type KeySettings } from '../../src/gateway/access/keys';
import type { TemporalServer } from '../../src/local/configured-server';
import { embeddedServer, stopServer } from '../../src/local/embedded-server';
import { settingsOf } from '../gateway/stage';
import { freshFolder } from '../local/fresh-folder';
import { fieldOf, framesOf } from '../support/frames';
import { openStage, type Stage, type StageOptions } from '../support/stage';
import { endOf, until } from '../support/until';
import { startGatewayProcess } from './gateway-process';
import { startWorkerProcess } from './worker-process';

// A busy machine takes long to start so many processes.
jest.setTimeout(180_000);

const TEXT = 'Eight legs, and as many eyes. '.repeat(80);

/** Runs a test on a stage of its own, concurrently with the others, because each mostly waits. */
function killing(
  name: string,
  act: (stage: Stage) => Promise<void>,
  open: () => Promise<Stage> = openSlowStage,
) {
  test.concurrent(name, async () => {
    const stage = await open();
    try {
      await act(stage);
    } finally {
      await stage.close();
    }
  });
}

/** Opens a stage whose worker a takes a minute for its first answer, and no time for later ones. */
function openSlowStage(options: StageOptions = {}): Promise<Stage> {
  return openStage({
    ...options,
    workers: ['a'],
    simulation: { models: { a: { answer: TEXT, script: [{ fault: 'drip', ms: 60_000 }] } } },
    config: { temporal: { heartbeat: '4s' } },
  });
}

async function makeKey({ store }: Stage, settings: Partial<KeySettings> = {}) {
  return createKey(store, settingsOf(settings));
}

/** Takes events until `isLast`, or until the stream ends or breaks. */
async function take<Event>(
  events: AsyncIterable<Event>,
  isLast: (taken: readonly Event[]) => boolean = () => false,
): Promise<Event[]> {
  const taken: Event[] = [];
  try {
    for await (const event of events) {
      taken.push(event);
      if (isLast(taken)) break;
    }
  } catch (error) {
    // The process at the other end was killed.
    if (!(error instanceof Error)) throw error;
  }
  return taken;
}

const isDelta = ({ type }: ResponseStreamEvent): boolean => type === 'response.output_text.delta';
const isHalfWritten = (taken: readonly ResponseStreamEvent[]): boolean => taken.filter(isDelta).length === 2;

const numbersOf = (events: readonly ResponseStreamEvent[]): number[] =>
  events.map(({ sequence_number }) => sequence_number);

function responseIdOf([created]: readonly ResponseStreamEvent[]): string {
  if (created?.type !== 'response.created') throw new Error('no response was created');
  return created.response.id;
}

const openAi = ({ url }: { readonly url: string }, apiKey: string): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });

const ASKED = { model: 'worker/a', input: 'How many legs?' };

/** Returns for each call of worker a whether it was completed. */
async function endedCalls(stage: Stage, id: string): Promise<boolean[]> {
  const rows = (await stage.rows(id)).filter(({ worker }) => worker === 'a');
  return rows.map(({ usage }) => usage !== null);
}

killing(
  'kill -9 of gateway and worker in mid-stream: both streams of the solve go on, and its answer is kept',
  async (stage) => {
    const { secret } = await makeKey(stage);
    const [gateway, worker] = [await startGatewayProcess(stage), await startWorkerProcess(stage)];
    const follow = async ({ url }: { readonly url: string }, id: string, after?: string) => {
      const headers = {
        authorization: `Bearer ${secret}`,
        ...(after !== undefined && { 'last-event-id': after }),
      };
      return framesOf(await fetch(`${url}/api/solves/${id}/events`, { headers }));
    };
    const isEvent = (frame: string): boolean => frame.startsWith('event: ');
    const asked = openAi(gateway, secret).responses.create({ ...ASKED, stream: true });
    const before = await take(await asked, isHalfWritten);
    const id = responseIdOf(before).replace('resp_', '');
    const heard = await take(await follow(gateway, id), (frames) => frames.filter(isEvent).length === 4);
    await Promise.all([gateway.kill(), worker.kill()]);

    const [next, other] = [await startGatewayProcess(stage), await startWorkerProcess(stage)];
    const openai = openAi(next, secret);
    const last = before.at(-1)?.sequence_number ?? 0;
    const resumed = { stream: true as const, starting_after: last };
    const [after, told] = await Promise.all([
      openai.responses.retrieve(`resp_${id}`, resumed).then((events) => take(events)),
      follow(next, id, fieldOf(heard.at(-1) ?? '', 'id')).then((frames) => take(frames)),
    ]);
    const all = [...before, ...after];
    expect(numbersOf(all)).toEqual(all.map((_, index) => index));
    expect(all.at(-1)).toMatchObject({ type: 'response.completed', response: { status: 'completed' } });
    const got = await openai.responses.retrieve(`resp_${id}`);
    expect(got).toMatchObject({ status: 'completed', output_text: TEXT });
    expect(await take(await openai.responses.retrieve(`resp_${id}`, { stream: true }))).toEqual(all);
    const done = all.flatMap((event) => (event.type === 'response.output_item.done' ? [event.item] : []));
    expect(done.at(-1)).toMatchObject({ status: 'completed', content: [{ text: TEXT }] });

    const events = [...heard, ...told]
      .filter(isEvent)
      .map((frame) => JSON.parse(fieldOf(frame, 'data')) as LiveEvent);
    const kinds = events.map(({ kind }) => kind).filter((kind) => kind !== 'text');
    expect(kinds).toEqual(['planned', 'stepStarted', 'restarted', 'stepEnded', 'ended']);
    const written = events.slice(events.findIndex(({ kind }) => kind === 'restarted'));
    expect(written.map((event) => (event.kind === 'text' ? event.delta : '')).join('')).toBe(TEXT);
    expect(await endedCalls(stage, id)).toEqual([false, true]);
    await Promise.all([next.kill(), other.kill()]);
  },
);

function post(
  { url }: { readonly url: string },
  secret: string,
  body: object,
  key?: string,
): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      ...(key !== undefined && { 'idempotency-key': key }),
    },
    body: JSON.stringify(body),
  });
}

const CHAT = { model: 'worker/a', messages: [{ role: 'user', content: 'How many legs?' }] };

/** Returns the text of an answer that came in chunks. */
const contentOf = (frames: readonly string[]): string =>
  frames
    .map((frame) => fieldOf(frame, 'data'))
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => (JSON.parse(data) as OpenAI.ChatCompletionChunk).choices[0]?.delta.content ?? '')
    .join('');

const solveOf = ({ headers }: Response): string => headers.get('x-conductor-solve') ?? '';

for (const [how, idempotencyKey] of [
  ['with its Idempotency-Key', 'order-17'],
  ['without a word about the first time', undefined],
] as const) {
  killing(
    `a chat request that is repeated ${how} after the death of its gateway is the same solve, and paid once`,
    async (stage) => {
      const { secret } = await makeKey(stage);
      const release = stage.providers.hold('a');
      const gateway = await startGatewayProcess(stage);
      await stage.whileWorking(async () => {
        const lost = post(gateway, secret, { ...CHAT, stream: true }, idempotencyKey)
          .then((response) => response.text())
          .catch(() => null);
        await stage.providers.waitForRequest(({ model }) => model === 'a');
        await gateway.kill();
        expect(await lost).toBeNull();
        const next = await startGatewayProcess(stage);
        const repeated = post(next, secret, CHAT, idempotencyKey);
        release();
        const response = await repeated;
        expect(await response.json()).toMatchObject({ choices: [{ message: { content: TEXT } }] });
        expect(await endedCalls(stage, solveOf(response))).toEqual([true]);
        await next.kill();
      });
      expect(stage.requestsTo('a')).toHaveLength(1);
    },
    () => openStage({ workers: ['a'], simulation: { models: { a: { answer: TEXT } } } }),
  );
}

killing(
  'a chat stream that is repeated after the death of gateway and worker brings the whole answer',
  async (stage) => {
    const { secret } = await makeKey(stage);
    const [gateway, worker] = [await startGatewayProcess(stage), await startWorkerProcess(stage)];
    const body = { ...CHAT, stream: true };
    const broken = await post(gateway, secret, body, 'order-17');
    const heard = await take(framesOf(broken), (frames) => contentOf(frames) !== '');
    expect(TEXT.startsWith(contentOf(heard))).toBe(true);
    await Promise.all([gateway.kill(), worker.kill()]);

    const [next, other] = [await startGatewayProcess(stage), await startWorkerProcess(stage)];
    await endOf(stage, solveOf(broken));
    const repeated = await post(next, secret, body, 'order-17');
    expect(solveOf(repeated)).toBe(solveOf(broken));
    const frames = await take(framesOf(repeated));
    expect([contentOf(frames), frames.at(-1)]).toEqual([TEXT, 'data: [DONE]']);
    expect(await endedCalls(stage, solveOf(repeated))).toEqual([false, true]);
    await Promise.all([next.kill(), other.kill()]);
  },
);

describe('kill -9 of the server', () => {
  test.concurrent.each([
    ['and of gateway and worker', true],
    ['and of the worker', false],
  ])('%s in mid-stream: the stream resumes where it was', async (_, isGatewayKilled) => {
    const folder = await freshFolder();
    const servers = [await attach(folder)];
    const stage = await openSlowStage({ address: servers[0]?.address });
    try {
      const { secret } = await makeKey(stage);
      const [gateway, worker] = [await startGatewayProcess(stage), await startWorkerProcess(stage)];
      const asked = openAi(gateway, secret).responses.create({ ...ASKED, stream: true });
      const before = await take(await asked, isHalfWritten);
      const killed = [worker, ...(isGatewayKilled ? [gateway] : [])];
      await Promise.all([stopServer(folder), ...killed.map((each) => each.kill())]);

      servers.push(await attach(folder));
      const next = isGatewayKilled ? await startGatewayProcess(stage) : gateway;
      const other = await startWorkerProcess(stage);
      const openai = openAi(next, secret);
      const id = responseIdOf(before);
      const goOn = async (taken: ResponseStreamEvent[]): Promise<ResponseStreamEvent[]> => {
        const last = taken.at(-1);
        if (last?.type === 'response.completed') return taken;
        const from = { stream: true as const, starting_after: last?.sequence_number ?? 0 };
        return goOn([...taken, ...(await take(await openai.responses.retrieve(id, from)))]);
      };
      const all = await goOn(before);
      expect(numbersOf(all)).toEqual(all.map((_, index) => index));
      expect(await openai.responses.retrieve(id)).toMatchObject({ status: 'completed', output_text: TEXT });
      await Promise.all([next.kill(), other.kill()]);
    } finally {
      await stage.close();
      // The last user of the server stops it, before its folder is removed.
      await Promise.all(servers.map((server) => server.stop()));
    }
  });
});

/** Finds or starts the server of a folder, as a command does. */
function attach(folder: string): Promise<TemporalServer> {
  return embeddedServer({ folder, say: () => undefined });
}

const BUDGET_USD = 1;
const MOST_USD = 0.1;
const sumOf = (amounts: readonly number[]): number => amounts.reduce((sum, each) => sum + each, 0);

/** Returns the cost limit that each of the stage's solves was given. */
async function grantsOf({ temporal: { client }, taskQueue }: Stage): Promise<Map<string, number>> {
  const grants = new Map<string, number>();
  for await (const { workflowId } of client.workflow.list({ query: `TaskQueue = "${taskQueue}"` })) {
    const { input } = await readRunNow(client, workflowId);
    grants.set(workflowId, input.limits?.costUsd ?? Infinity);
  }
  return grants;
}

killing(
  "a day's budget holds under 50 requests at once, the death of their gateway, and 50 more",
  async (stage) => {
    const { key, secret } = await makeKey(stage, { usdPerDay: BUDGET_USD });
    const statuses: (number | null)[] = [];
    const askFifty = (gateway: { readonly url: string }, seed: number): Promise<unknown> => {
      const asked = Array.from({ length: 50 }, async () => {
        const response = await post(gateway, secret, {
          ...CHAT,
          seed,
          conductor: { max_cost_usd: MOST_USD },
        });
        await response.text();
        statuses.push(response.status);
      });
      return Promise.all(asked.map((each) => each.catch(() => undefined)));
    };
    const usedUsd = async (): Promise<number> => {
      const { spentNanoUsd, heldNanoUsd } = await readSpending(stage.store, key.id, Date.now());
      return (spentNanoUsd + heldNanoUsd) / 1e9;
    };

    const release = stage.providers.hold('a');
    await stage.whileWorking(async () => {
      const gateway = await startGatewayProcess(stage);
      const lost = askFifty(gateway, 1);
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      await gateway.kill();
      await lost;
      const before = await grantsOf(stage);
      expect(await usedUsd()).toBeLessThanOrEqual(BUDGET_USD);

      const next = await startGatewayProcess(stage);
      statuses.length = 0;
      const asked = askFifty(next, 2);
      // No request can end yet: each is refused, or waits for its answer.
      const grants = await until(
        () => grantsOf(stage),
        ({ size }) => statuses.length + size - before.size >= 50,
      );
      expect(new Set(statuses)).toEqual(new Set([402]));
      expect(sumOf([...grants.values()])).toBeLessThanOrEqual(BUDGET_USD);
      expect(await usedUsd()).toBeLessThanOrEqual(BUDGET_USD);
      release();
      await asked;
      const traces = await Promise.all([...grants.keys()].map((id) => endOf(stage, id)));
      const spent = sumOf(traces.map(({ costUsd }) => costUsd));
      expect(spent).toBeGreaterThan(0);
      expect(await usedUsd()).toBeLessThanOrEqual(BUDGET_USD);
      // Reservations of the dead gateway for ended solves are released.
      expect((await post(next, secret, CHAT)).status).toBe(200);
      expect(await usedUsd()).toBeGreaterThanOrEqual(spent);
      await next.kill();
    });
  },
  () => openStage({ workers: ['a'], simulation: { models: { a: { answer: 'Eight.' } } } }),
);
