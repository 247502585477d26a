import { join } from 'node:path';
import fc from 'fast-check';
import { ConductorClient } from '../../src';
import type { Answer, RequestRecord } from '../../src/testing';
import { SqliteStore } from '../../src/store/sqlite-store';
import { openGateway, type TestGateway } from '../support/gateway';
import { useStage } from '../support/stage';
import { endOf, until } from '../support/until';

/** Runs of random requests; more of them take a minute for every ten. */
const RUNS = Number(process.env.BILL_RUNS ?? 3);

const PRICE = { input: 2, output: 10 };
/** Tokens of an answer, at a cent for a thousand. */
const usage = { outputTokens: 900 };
/** Three solves at the configured limit. */
const BUDGET_USD = 0.04;

const stage = useStage({
  workers: ['a'],
  worker: { maxOutputTokens: 1000, price: PRICE },
  config: { limits: { costUsd: 0.0125 } },
  simulation: {
    models: {
      a: {
        price: PRICE,
        answer: { text: 'Eight.', usage },
        schedule: [
          { share: 0.25, answer: { fault: 'usage-missing' } },
          { share: 0.1, answer: { fault: 'usage-zero' } },
          { share: 0.1, answer: { fault: 'cut-mid-body' } },
          { share: 0.2, answer: { fault: 'drip', ms: 200 } },
        ],
      },
    },
  },
});

const deed = fc.record({
  gateway: fc.nat(1),
  what: fc.constantFrom('start', 'chat', 'hang up', 'retry', 'refused', 'cancel'),
  /** Whether a request that is refused uses the same Idempotency-Key before or beside it. */
  refused: fc.constantFrom('no', 'before', 'beside'),
  /** Number of an Idempotency-Key; null: none. */
  key: fc.option(fc.nat(19), { freq: 4 }),
  isTwice: fc.boolean(),
  costUsd: fc.option(fc.constantFrom(0.011, 0.0125)),
  /** Which of the solves so far is meant. */
  which: fc.nat(9),
});
const courses = fc.array(fc.array(deed, { minLength: 3, maxLength: 6 }), { minLength: 2, maxLength: 3 });

type Deed = typeof deed extends fc.Arbitrary<infer Value> ? Value : never;

/** Requests with one key, at two gateways of one store. */
class Caller {
  /** Solves that it knows of. */
  readonly ids = new Set<string>();
  private questions = 0;

  constructor(
    private readonly gateways: readonly TestGateway[],
    private readonly key: string,
  ) {}

  async run(course: readonly Deed[]): Promise<void> {
    for (const each of course) await this.act(each);
  }

  private async act(deed: Deed): Promise<void> {
    if (deed.refused === 'before') await this.send(deed, 'refused');
    const beside = deed.refused === 'beside' ? this.send(deed, 'refused') : null;
    const question = `How many legs has spider ${(this.questions += 1)}?`;
    const other = { ...deed, gateway: 1 - deed.gateway };
    const sent = [deed, ...(deed.isTwice ? [other] : [])].map((each) => this.send(each, deed.what, question));
    await Promise.all([...sent, beside]);
  }

  private async send(deed: Deed, what: Deed['what'], question = ''): Promise<void> {
    const { costUsd, which } = deed;
    const id = [...this.ids][which % Math.max(1, this.ids.size)];
    const limits = costUsd === null ? {} : { limits: { costUsd } };
    const chat = {
      model: 'worker/a',
      messages: [{ role: 'user', content: question }],
      conductor: {
        on_disconnect: 'cancel',
        ...(costUsd !== null && { max_cost_usd: costUsd }),
      },
    };
    if (what === 'start') {
      await this.post(deed, '/api/solves', { question, model: 'worker/a', ...limits });
    } else if (what === 'chat') await this.post(deed, '/v1/chat/completions', chat);
    else if (what === 'hang up') await this.hangUp(deed, { ...chat, stream: true });
    else if (id === undefined) return;
    else if (what === 'cancel') await this.post({ ...deed, key: null }, `/api/solves/${id}/cancel`, {});
    else await this.post(deed, `/api/solves/${id}/retry`, { from: what === 'retry' ? 0 : 99, ...limits });
  }

  private async post(deed: Deed, path: string, body: object): Promise<void> {
    const response = await this.fetch(deed, path, body);
    const { id } = (await response.json()) as { id?: string };
    if (response.status === 202) this.ids.add(String(id));
    this.note(response);
  }

  /** Leaves in the middle of an answer, if it has one. */
  private async hangUp(deed: Deed, body: object): Promise<void> {
    const gone = new AbortController();
    const response = await this.fetch(deed, '/v1/chat/completions', body, gone.signal);
    this.note(response);
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const isText = ({ value, done }: { value?: string; done: boolean }): boolean =>
      done || value?.includes('"content"') === true;
    await until(async () => (await reader?.read()) ?? { done: true }, isText);
    gone.abort();
    await reader?.closed.catch(() => undefined);
  }

  private note({ headers }: Response): void {
    const id = headers.get('x-conductor-solve');
    if (id !== null) this.ids.add(id);
  }

  private fetch(
    { gateway, key }: Deed,
    path: string,
    body: object,
    signal: AbortSignal | null = null,
  ): Promise<Response> {
    const headers = {
      authorization: `Bearer ${this.key}`,
      'content-type': 'application/json',
      ...(key !== null && { 'idempotency-key': `k-${key}` }),
    };
    const url = (this.gateways[gateway]?.url ?? '') + path;
    return fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal });
  }
}

const spendingOf = async (gateway: TestGateway, key: string) =>
  (await gateway.ask('GET', '/api/me', undefined, { key })).body.spending as Record<string, number>;

const untilWorked = (gateway: TestGateway): Promise<unknown> =>
  until(
    () => gateway.ask('GET', '/health'),
    ({ status }) => status === 200,
  );

const SOLVE = { question: 'How many legs?', model: 'worker/a' };

test('a refused request does not make the next one with its Idempotency-Key free', async () => {
  const gateway = await openGateway(stage);
  const secret = await gateway.key({ usdPerDay: BUDGET_USD });
  const once = { key: secret, headers: { 'idempotency-key': 'k' } };
  stage.providers.script('a', Array<Answer>(4).fill({ text: 'Eight.', usage }));
  await stage.whileWorking(async () => {
    await untilWorked(gateway);
    const { body } = await gateway.ask('POST', '/api/solves', SOLVE, { key: secret });
    await endOf(stage, String(body.id));
    const refused = await gateway.ask('POST', `/api/solves/${String(body.id)}/retry`, { from: 99 }, once);
    const asked = await gateway.ask('POST', '/api/solves', SOLVE, once);
    expect([refused.status, asked.status]).toEqual([400, 202]);
    await endOf(stage, String(asked.body.id));
    const { costUsd } = await stage.client.trace(String(asked.body.id));
    const spent = await until(
      () => spendingOf(gateway, secret),
      ({ heldTodayUsd }) => heldTodayUsd === 0,
    );
    expect(spent.spentTodayUsd).toBeCloseTo(2 * costUsd, 9);
  });
  await gateway.close();
});

test('an answer without usage counts as all that was reserved for it', async () => {
  const gateway = await openGateway(stage);
  const key = await gateway.key({ usdPerDay: BUDGET_USD });
  stage.providers.script('a', [{ fault: 'usage-missing' }]);
  await stage.whileWorking(async () => {
    await untilWorked(gateway);
    const chat = { model: 'worker/a', messages: [{ role: 'user', content: 'How many?' }] };
    expect(await gateway.ask('POST', '/v1/chat/completions', chat, { key })).toMatchObject({ status: 200 });
    expect(await spendingOf(gateway, key)).toEqual({
      spentTodayUsd: 0,
      spentTodayIsLowerBound: true,
      unknownTodayUsd: 0.0125,
      heldTodayUsd: 0,
    });
  });
  await gateway.close();
});

test('a start that failed and left no workflow releases what it reserved', async () => {
  const { client } = stage.temporal;
  // A long question is stored before the start, which fails here.
  const conductor = new ConductorClient({
    client,
    store: 'sqlite:/dev/null/store.db',
    taskQueue: stage.taskQueue,
  });
  const gateway = await openGateway(stage, 0, stage.store, conductor);
  const key = await gateway.key({ usdPerDay: BUDGET_USD });
  await stage.whileWorking(async () => {
    await untilWorked(gateway);
    const long = { ...SOLVE, question: 'How many legs? '.repeat(400) };
    expect(await gateway.ask('POST', '/api/solves', long, { key })).toMatchObject({ status: 500 });
  });
  expect(await spendingOf(gateway, key)).toMatchObject({ spentTodayUsd: 0, heldTodayUsd: 0 });
  await gateway.close();
});

test('providers never bill more than the budget of a key, whatever its requests do', async () => {
  const other = new SqliteStore(join(stage.folder, 'store.db'));
  const gateways = [await openGateway(stage), await openGateway(stage, 0, other)] as const;
  const [first] = gateways;
  await stage.whileWorking(async () => {
    await untilWorked(first);
    await fc.assert(
      fc.asyncProperty(courses, async (all) => {
        const key = await first.key({ usdPerDay: BUDGET_USD });
        const before = stage.providers.log.length;
        const caller = new Caller(gateways, key);
        await Promise.all(all.map((course) => caller.run(course)));
        const prefix = `gw-${key.split('-')[2] ?? ''}-`;
        // The server lists runs a moment late.
        const { runs } = await until(
          () => stage.client.list({ prefix, ended: 1000 }),
          (listed) => [...caller.ids].every((id) => listed.runs.some((run) => run.id === id)),
        );
        await Promise.all(runs.map(({ id }) => endOf(stage, id)));

        const isOver = ({ outcome }: RequestRecord): boolean => outcome !== null;
        await stage.providers.waitForLog((log) => log.every(isOver));
        const nanoUsd = stage.providers.log
          .slice(before)
          .reduce((sum, record) => sum + (record.nanoUsd ?? NaN), 0);
        expect(nanoUsd).toBeLessThanOrEqual(BUDGET_USD * 1e9);
        const {
          spentTodayUsd = NaN,
          unknownTodayUsd = NaN,
          heldTodayUsd = NaN,
        } = await spendingOf(first, key);
        const counted = spentTodayUsd + unknownTodayUsd + heldTodayUsd;
        expect(nanoUsd / 1e9).toBeLessThanOrEqual(counted + 1e-9);
        expect(counted).toBeLessThanOrEqual(BUDGET_USD + 1e-9);
        expect(spentTodayUsd).toBeLessThanOrEqual(nanoUsd / 1e9 + 1e-9);
      }),
      { numRuns: RUNS, seed: 17, endOnFailure: true },
    );
  });
  await Promise.all(gateways.map((gateway) => gateway.close()));
}, 600_000);
