import { Client, Connection } from '@temporalio/client';
import { ConductorClient, type SolveResult } from '../../src';
import { type AuditEntry, readAudit } from '../../src/gateway/access';
import { dateOf } from '../../src/store/costs';
import { closedPort } from '../support/closed-port';
import { type GatewayAnswer, openGateway, type TestGateway, useGateway } from '../support/gateway';
import { step, useStage } from '../support/stage';
import { endOf, until, untilTrace } from '../support/until';

const stage = useStage({
  workers: ['a', 'b'],
  config: { recursion: 'worker', limits: { depth: 1 } },
  simulation: { models: { a: { answer: 'Many.' }, b: { answer: 'Eight.' } } },
});

const gateway = useGateway(stage);

const QUESTION = { question: 'How many legs has a spider?' };

const ask: TestGateway['ask'] = (...request) => gateway.ask(...request);
const ok = (body: object) => ({ status: 200, headers: expect.anything() as unknown, body });

async function start(request: object = {}): Promise<string> {
  const send = (): Promise<GatewayAnswer> => ask('POST', '/api/solves', { ...QUESTION, ...request });
  // A worker that has just started may not poll yet.
  const { status, body } = await until(send, (answer) => answer.status !== 503);
  expect({ status, ...body }).toMatchObject({ status: 202, isNew: true });
  return String(body.id);
}

interface Told {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

async function follow(id: string, headers: Record<string, string> = {}, query = ''): Promise<Told[]> {
  const response = await fetch(`${gateway.url}/api/solves/${id}/events${query}`, {
    headers: { authorization: `Bearer ${gateway.secret}`, ...headers },
  });
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  return [...(await response.text()).matchAll(/event: (.*)\nid: (.*)\ndata: (.*)\n\n/g)].map(
    ([, event = '', place = '', data = '']) => ({
      event,
      id: place,
      data: JSON.parse(data) as Record<string, unknown>,
    }),
  );
}

async function entriesOf(day: string): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readAudit(stage.store, { since: day, until: day })) entries.push(entry);
  return entries;
}

test('a solve can be started, read, listed and followed, and a returning reader gets the rest', async () => {
  stage.plan([step('a', 'Look.'), step('b', 'Count.', [0])]);
  await stage.whileWorking(async () => {
    const id = await start({ seed: 7, pool: { allow: ['a', 'b'] }, limits: { steps: 3 } });
    const told = await follow(id);
    expect(told.map(({ event }) => event)).toEqual(
      expect.arrayContaining(['planned', 'stepStarted', 'text']),
    );
    expect(told.at(-1)).toMatchObject({ event: 'ended', data: { kind: 'ended', answer: 'Eight.' } });

    const [middle, last] = [told[2]?.id ?? '', told.at(-1)?.id ?? ''];
    const rest = told.slice(3).map(({ data }) => data);
    const again = await follow(id, { 'last-event-id': middle });
    expect(again.map(({ data }) => data)).toEqual(rest);
    expect((await follow(id, {}, `?after=${middle}`)).map(({ data }) => data)).toEqual(rest);
    const over = await fetch(`${gateway.url}/api/solves/${id}/events?after=${last}`, {
      headers: { authorization: `Bearer ${gateway.secret}` },
    });
    expect(over.status).toBe(204);
    expect(await ask('GET', `/api/solves/${id}/events?after=nonsense`)).toMatchObject({ status: 400 });

    const trace = JSON.parse(JSON.stringify(await stage.client.trace(id))) as SolveResult;
    expect((await ask('GET', `/api/solves/${id}`)).body).toEqual(trace);
    const list = await until(
      () => ask('GET', '/api/solves'),
      ({ body }) => (body.runs as unknown[]).length > 0,
    );
    expect(list.body.runs).toMatchObject([{ id, status: 'completed', costUsd: trace.costUsd }]);
    expect((await ask('GET', '/api/solves?limit=0')).body.runs).toEqual([]);

    const cost = await ask('GET', '/api/cost');
    expect(cost.body).toMatchObject({ by: 'workflow', lines: [{ name: id, costUsd: trace.costUsd }] });
    expect((await ask('GET', `/api/cost?until=2020-01-01`)).body.lines).toEqual([]);
    expect(await ask('GET', '/api/cost?by=model')).toMatchObject({ status: 403 });
  });
});

test('a waiting plan can be rejected and edited, and hints, depth and limits can be changed meanwhile', async () => {
  await stage.whileWorking(async () => {
    stage.plan([step('a', 'Look.')]);
    const id = await start({ approval: 'plan' });
    await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    const to = (verb: string, body?: object): Promise<GatewayAnswer> =>
      ask('POST', `/api/solves/${id}/${verb}`, body);

    expect(await to('hint', { hint: 'Spiders are no insects.' })).toEqual(ok({ id }));
    expect(await to('hint', { hint: ' ' })).toMatchObject({ status: 409 });
    expect(await to('depth', { depth: 0 })).toEqual(ok({ id }));
    const held = await ask('GET', `/api/solves/${id}/limits`);
    expect(held).toMatchObject({ status: 200, body: { depth: 0 } });
    expect(Date.parse(String(held.body.approvalEndsAt))).toBeGreaterThan(Date.now());
    expect(await to('limits', { calls: 20 })).toMatchObject({ status: 200, body: { calls: 20, depth: 0 } });

    expect(await ask('GET', `/api/solves/${id}/plan-rules`)).toEqual(
      ok({ workers: ['a', 'b'], maxSteps: 5 }),
    );

    stage.plan([step('b', 'Count.')]);
    expect(await to('reject', { reason: 'Who looks counts nothing.' })).toMatchObject({ status: 200 });
    await untilTrace(stage, id, ({ rounds }) => rounds[0]?.plan?.steps[0]?.worker === 'b');
    const other = { steps: [step('a', 'Guess.')] };
    expect(await to('approve', { plan: other })).toMatchObject({ status: 409 });
    expect(await to('edit', { plan: { steps: [step('c', 'Guess.')] } })).toMatchObject({ status: 400 });
    const blind = { steps: [step('a', 'Guess.', [1])] };
    expect(await to('edit', { plan: blind })).toMatchObject({
      body: { error: { message: expect.stringContaining('Step 0 cannot see step 1') as string } },
    });
    expect(await to('edit', { plan: blind, firstStep: 1 })).toMatchObject({
      body: { error: { message: expect.stringContaining('Step 1 cannot see step 1') as string } },
    });
    expect(await to('edit', { plan: other })).toEqual(ok({ plan: other }));
    const { answer, steered } = await endOf(stage, id);
    expect(answer).toBe('Many.');
    const by = expect.stringMatching(/^key-/) as string;
    expect(steered).toMatchObject([
      { kind: 'hint', by, text: 'Spiders are no insects.' },
      { kind: 'limits', by, limits: { depth: 0 } },
      { kind: 'limits', by, limits: { calls: 20 } },
      { kind: 'rejected', by, text: 'Who looks counts nothing.' },
      { kind: 'edited', by },
    ]);
    expect(await to('cancel')).toMatchObject({ status: 409 });

    const today = dateOf(Date.now());
    const audit = await entriesOf(today);
    const changes = audit.map(({ action, detail, target }) => [action, detail?.change, target === id]);
    expect(changes).toEqual([
      ['start', undefined, true],
      ...['hint', 'depth', 'limits', 'reject', 'edit'].map((change) => ['steer', change, true]),
    ]);
    // The text of the hint is in the Conductor's prompt, and not in the audit log.
    expect(JSON.stringify(audit)).not.toContain('insects');
    expect(JSON.stringify(stage.requestsTo('conductor').at(-1))).toContain('insects');
  });
});

test('a solve can be approved, retried from a step, and cancelled', async () => {
  await stage.whileWorking(async () => {
    stage.plan([step('a', 'Look.'), step('a', 'Count.', [0])]);
    const first = await start({ approval: 'plan' });
    await untilTrace(stage, first, ({ waitsFor }) => waitsFor === 'approval');
    expect(await ask('POST', `/api/solves/${first}/approve`)).toMatchObject({ status: 200 });
    expect((await endOf(stage, first)).answer).toBe('Many.');

    expect(await ask('POST', `/api/solves/${first}/retry`, { from: 9 })).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/no step 10/) as string } },
    });
    const letGo = stage.providers.hold('b');
    const retried = await ask('POST', `/api/solves/${first}/retry`, { from: 1, worker: 'b' });
    expect(retried).toMatchObject({ status: 202 });
    const second = String(retried.body.id);
    expect(second.slice(0, 14)).toBe(first.slice(0, 14));
    // The retry asks for approval, as the first solve did.
    await until(
      () => ask('POST', `/api/solves/${second}/approve`),
      ({ status }) => status === 200,
    );
    await stage.providers.waitForRequest(({ model }) => model === 'b');
    expect(await ask('POST', `/api/solves/${second}/cancel`)).toMatchObject({ status: 200 });
    expect((await endOf(stage, second)).status).toBe('cancelled');
    letGo();
  });
});

test('a request that is repeated with its idempotency key starts no other solve', async () => {
  await stage.whileWorking(async () => {
    stage.plan([step('b', 'Count.')]);
    const headers = { 'idempotency-key': 'once' };
    const send = (question: string) => ask('POST', '/api/solves', { question }, { headers });
    const first = await until(
      () => send('Eight?'),
      ({ status }) => status !== 503,
    );
    const [again, other] = [await send('Eight?'), await send('Nine?')];
    expect([first.body.isNew, again.body.isNew]).toEqual([true, false]);
    expect(again.body.id).toBe(first.body.id);
    expect(other).toMatchObject({ status: 409 });
    await endOf(stage, String(first.body.id));
  });
});

test('a long conversation can be read, and continued', async () => {
  const told = 'A long tale. '.repeat(1_000);
  const messages = [
    { role: 'user', content: told },
    { role: 'assistant', content: 'Nice.' },
    { role: 'user', content: 'How many legs?' },
  ];
  await stage.whileWorking(async () => {
    stage.plan([step('b', 'Count.')]);
    stage.plan([step('b', 'Count again.')]);
    const id = await start({ messages, question: undefined });
    await endOf(stage, id);
    const next = await start({ question: 'Sure?', after: id });
    const read = await ask('GET', `/api/solves/${next}/conversation`);
    const rest = [
      { role: 'assistant', content: 'Eight.' },
      { role: 'user', content: 'Sure?' },
    ];
    expect(read.body).toEqual([...messages, ...rest]);
    await endOf(stage, next);
  });
});

test('a daily budget holds what a solve may cost, and that limit cannot be raised afterwards', async () => {
  gateway.secret = await gateway.key({ usdPerDay: 1 });
  await stage.whileWorking(async () => {
    stage.plan([step('b', 'Count.')]);
    const id = await start({ approval: 'plan', limits: { costUsd: 0.6 } });
    await untilTrace(stage, id, ({ waitsFor }) => waitsFor === 'approval');
    expect(await ask('POST', '/api/solves', { ...QUESTION, limits: { costUsd: 0.6 } })).toMatchObject({
      status: 402,
    });
    for (const costUsd of [0.7, null]) {
      expect(await ask('POST', `/api/solves/${id}/limits`, { costUsd })).toMatchObject({ status: 403 });
    }
    expect(await ask('POST', `/api/solves/${id}/limits`, { costUsd: 0.5 })).toMatchObject({
      body: { costUsd: 0.5 },
    });
    const spending = async () => (await ask('GET', '/api/me')).body.spending as { heldTodayUsd: number };
    const retried = { from: 9, limits: { costUsd: 0.3 } };
    expect(await ask('POST', `/api/solves/${id}/retry`, retried)).toMatchObject({ status: 400 });
    // A refused request reserves nothing.
    const nothing = { spentTodayUsd: 0, spentTodayIsLowerBound: false, unknownTodayUsd: 0 };
    expect(await spending()).toEqual({ ...nothing, heldTodayUsd: 0.6 });
    await ask('POST', `/api/solves/${id}/cancel`);
    const { costUsd, costIsLowerBound } = await endOf(stage, id);
    expect(costIsLowerBound).toBe(false);
    const booked = await until(spending, ({ heldTodayUsd }) => heldTodayUsd === 0);
    expect(booked).toEqual({ ...nothing, spentTodayUsd: costUsd, heldTodayUsd: 0 });
  });
});

test('a key for one worker alone cannot get another worker by a retry', async () => {
  gateway.secret = await gateway.key({ models: ['worker/b'] });
  await stage.whileWorking(async () => {
    const id = await start({ model: 'worker/b' });
    await endOf(stage, id);
    const path = `/api/solves/${id}/retry`;
    expect(await ask('POST', path, { from: 0, worker: 'a' })).toMatchObject({ status: 400 });
    expect(await ask('POST', path, { from: 0 })).toMatchObject({ status: 202 });
  });
});

test('an invalid question is refused with the reason', async () => {
  const refused = [
    [{}, /either a question, or messages/],
    [{ question: ' ' }, /question is empty/],
    [{ ...QUESTION, pool: { allow: ['z'] } }, /z/],
    [{ ...QUESTION, model: 'worker/z' }, /no model "worker\/z"/],
    [{ ...QUESTION, tenant: 'x' }, /tenant/],
    [
      { ...QUESTION, limits: { costUsd: -1 } },
      /^limits\.costUsd is -1: expected an amount of USD from 0 to 1000000, or null for no limit$/,
    ],
    [{ ...QUESTION, limits: { steps: 0 } }, /^limits\.steps is 0: expected a whole number from 1 to 50$/],
  ] as const;
  for (const [body, reason] of refused) {
    const { body: answer } = await ask('POST', '/api/solves', body);
    expect(answer).toMatchObject({ error: { message: expect.stringMatching(reason) as string } });
  }
  // No worker polls.
  expect(await ask('POST', '/api/solves', QUESTION)).toMatchObject({ status: 503 });
});

test('a caller is told that Temporal is away, and to try again', async () => {
  const { store, taskQueue } = stage;
  const address = `127.0.0.1:${await closedPort()}`;
  // Without interceptors, the connection does not try again itself.
  const client = new Client({ connection: Connection.lazy({ address, interceptors: [] }) });
  const cut = await openGateway(stage, 0, store, new ConductorClient({ client, store, taskQueue }));
  const { status, headers, body } = await stage.whileWorking(() =>
    until(
      () => cut.ask('POST', '/api/solves', QUESTION),
      // A worker that has just started may not poll yet.
      (answer) => !JSON.stringify(answer.body).includes('no_worker'),
    ),
  );
  await cut.close();
  const message = expect.stringMatching(/^the gateway cannot reach Temporal: try again/) as string;
  expect({ status, ...body }).toMatchObject({
    status: 503,
    error: { message, code: 'temporal_unavailable' },
  });
  expect(headers.get('retry-after')).toBe('5');
  expect(cut.said).toEqual([expect.stringContaining('UNAVAILABLE')]);
});

test('health reports what is available, and metrics are readable by admin keys', async () => {
  const health = (): Promise<GatewayAnswer> => ask('GET', '/health', undefined, { key: 'none' });
  expect(await health()).toEqual({ ...ok({ temporal: true, store: true, worker: false }), status: 503 });
  await stage.whileWorking(() => until(health, ({ status }) => status === 200));
  expect(await ask('GET', '/metrics')).toMatchObject({ status: 403 });
  const admin = await gateway.key({ isAdmin: true });
  const response = await fetch(`${gateway.url}/metrics`, { headers: { 'x-api-key': admin } });
  expect(response.headers.get('content-type')).toContain('version=0.0.4');
  const text = await response.text();
  expect(text).toContain(
    'temporal_conductor_gateway_requests_total{method="GET",route="/health",status="503"} ',
  );
  expect(text).toContain('temporal_conductor_gateway_solves_started_total 0\n');
  expect(text).toMatch(/^temporal_conductor_gateway_event_loop_delay_seconds\{quantile="0.99"\} \d/m);
});
