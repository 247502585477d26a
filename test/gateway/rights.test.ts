import { parseConfig } from '../../src/config/load';
import { KeyChecker } from '../../src/gateway/access';
import { requestOf } from '../../src/gateway/solve/request-of';
import { type GatewayAnswer, useGateway } from '../support/gateway';
import { ACCEPT, step, useStage } from '../support/stage';
import { endOf, until } from '../support/until';

/** The operator's limits. Each is above its own smallest value, and far below what a solve may have at all. */
const LIMITS = {
  steps: 4,
  depth: 1,
  calls: 30,
  tokens: 100_000,
  costUsd: 1,
  wallClock: '5m',
  approval: '4m',
};

const stage = useStage({
  workers: ['a', 'b'],
  config: { limits: LIMITS, recursion: 'both' },
  simulation: { models: { a: { answer: 'Eight.' }, b: { answer: 'Six.' } } },
});
const gateway = useGateway(stage);

const question = 'How many legs has a spider?';
const NOT_ALLOWED = { status: 403, body: { error: { code: 'NotAllowed', type: 'permission_error' } } };

/** Asks again until the worker polls, which may have just started. */
const ask = (path: string, body: object, key = gateway.secret): Promise<GatewayAnswer> =>
  until(
    () => gateway.ask('POST', path, body, { key }),
    ({ status }) => status !== 503,
  );

const steer = (id: string, verb: string, body: object, key?: string): Promise<GatewayAnswer> =>
  ask(`/api/solves/${id}/${verb}`, body, key);

async function start(request: object = {}): Promise<string> {
  const { status, body } = await ask('/api/solves', { question, ...request });
  expect({ status, ...body }).toMatchObject({ status: 202 });
  return String(body.id);
}

/** Starts a solve whose plan waits for approval. */
async function startWaiting(request: object = {}): Promise<string> {
  const id = await start({ approval: 'plan', ...request });
  await until(
    () => gateway.ask('GET', `/api/solves/${id}/limits`),
    ({ body }) => typeof body.approvalEndsAt === 'string',
  );
  return id;
}

describe('a key for one worker alone never has the Conductor or another worker asked:', () => {
  beforeEach(async () => {
    gateway.secret = await gateway.key({ models: ['worker/a'] });
  });
  afterEach(() => {
    expect(stage.providers.log.map(({ model }) => model).filter((model) => model !== 'a')).toEqual([]);
  });

  test('not by a greater depth', async () => {
    await stage.whileWorking(async () => {
      const letGo = stage.providers.hold('a');
      const id = await start({ model: 'worker/a', limits: { depth: 1 } });
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      expect(await steer(id, 'depth', { depth: 1 })).toMatchObject(NOT_ALLOWED);
      expect(await steer(id, 'limits', { depth: null })).toMatchObject(NOT_ALLOWED);
      // Anyone may send a signal in the name of nobody.
      await stage.client.setMaxDepth(id, 1);
      letGo();
      expect(await endOf(stage, id)).toMatchObject({ status: 'completed', rounds: [{ depth: 0 }] });
    });
  });

  test('not by a retry', async () => {
    await stage.whileWorking(async () => {
      const id = await start({ model: 'worker/a' });
      await endOf(stage, id);
      for (const depth of [2, null]) {
        expect(await steer(id, 'retry', { from: 0, limits: { depth } })).toMatchObject(NOT_ALLOWED);
      }
      expect(await steer(id, 'retry', { from: 0, worker: 'b' })).toMatchObject({ status: 400 });
      for (const change of [{}, { limits: { depth: 1 } }, { worker: 'conductor' }]) {
        const { body } = await steer(id, 'retry', { from: 0, ...change });
        expect((await endOf(stage, String(body.id))).rounds).toHaveLength(1);
      }
    });
  });

  test('not by the rejection or an edit of its plan', async () => {
    await stage.whileWorking(async () => {
      const id = await startWaiting({ model: 'worker/a' });
      expect(await steer(id, 'reject', { reason: 'Ask a team.' })).toMatchObject(NOT_ALLOWED);
      for (const worker of ['conductor', 'b']) {
        const plan = { steps: [step(worker, 'Count.')] };
        expect(await steer(id, 'edit', { plan })).toMatchObject({ status: 400 });
      }
      expect(await steer(id, 'approve', {})).toMatchObject({ status: 200 });
      expect(await endOf(stage, id)).toMatchObject({ status: 'completed', answer: 'Eight.' });
    });
  });
});

/** Each limit as a request names it: the operator's value or less, and more. */
const ASKED: readonly (readonly [name: string, within: unknown, above: unknown])[] = [
  ['steps', 4, 5],
  ['depth', 0, 2],
  ['depth', 1, null],
  ['calls', 30, 31],
  ['tokens', 99_999, null],
  ['tokens', 100_000, 100_001],
  ['costUsd', 1, 1.000001],
  ['costUsd', 0.5, null],
  ['wallClock', '300s', '301s'],
  ['approval', '4m', '241s'],
];

describe('who is no operator', () => {
  test('may start a solve with lower limits than the operator’s, not with higher ones', async () => {
    for (const [name, , above] of ASKED) {
      const refused = await gateway.ask('POST', '/api/solves', { question, limits: { [name]: above } });
      expect({ name, ...refused }).toMatchObject({ name, ...NOT_ALLOWED });
    }
    const body = { model: 'conductor', messages: [{ role: 'user', content: question }] };
    for (const conductor of [{ max_cost_usd: 1.5 }, { max_depth: 2 }, { max_steps: 5 }]) {
      expect(await ask('/v1/chat/completions', { ...body, conductor })).toMatchObject(NOT_ALLOWED);
      expect(await ask('/v1/responses', { model: 'conductor', input: question, conductor })).toMatchObject(
        NOT_ALLOWED,
      );
    }
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Count.')]);
      const limits = Object.fromEntries(ASKED.map(([name, within]) => [name, within]));
      const id = await startWaiting({ limits });
      expect((await gateway.ask('GET', `/api/solves/${id}/limits`)).body).toMatchObject({
        ...{ steps: 4, depth: 1, calls: 30, costUsd: 0.5, wallClockMs: 300_000 },
      });
      await steer(id, 'cancel', {});
    });
  });

  test.each([
    ['high', {}],
    ['medium', {}],
    ['low', { depth: 0, steps: 2 }],
  ])('asks for no more than the operator allows by the reasoning effort %s', async (effort, limits) => {
    const key = await new KeyChecker(stage.store).check(gateway.secret);
    if (key === null) throw new Error('no key');
    const functions = { tools: [], forms: [], isSerial: false, isDemanded: false };
    const asked = { model: 'conductor', messages: [], functions, effort, extension: {}, warnings: [] };
    expect(requestOf(parseConfig(stage.config), key, asked).limits).toEqual(limits);
    const narrow = parseConfig({ ...stage.config, limits: { steps: 1 } });
    expect(requestOf(narrow, key, asked).limits?.steps ?? 1).toBe(1);
  });

  test('may not retry with higher limits', async () => {
    await stage.whileWorking(async () => {
      const id = await start({ model: 'worker/a' });
      await endOf(stage, id);
      for (const [name, , above] of ASKED) {
        const refused = await steer(id, 'retry', { from: 0, limits: { [name]: above } });
        expect({ name, ...refused }).toMatchObject({ name, ...NOT_ALLOWED });
      }
    });
  });

  test('may lower the limits of a running solve and raise them again, up to the operator’s', async () => {
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Count.')]);
      const id = await startWaiting({ limits: { calls: 20 } });
      const changes = [...ASKED.filter(([name]) => name !== 'approval' && name !== 'wallClock')];
      for (const [name, within, above] of [...changes, ['wallClockMs', 300_000, 300_001] as const]) {
        const refused = await steer(id, 'limits', { [name]: above });
        expect({ name, ...refused }).toMatchObject({ name, ...NOT_ALLOWED });
        const taken = await steer(id, 'limits', { [name]: within });
        expect({ name, ...taken }).toMatchObject({ name, status: 200 });
      }
      const { body } = await steer(id, 'limits', { calls: 30, costUsd: 1, depth: 1, tokens: 100_000 });
      expect(body).toMatchObject({ calls: 30, costUsd: 1, depth: 1, tokens: 100_000 });
      expect(await steer(id, 'depth', { depth: 0 })).toMatchObject({ status: 200 });
      await steer(id, 'cancel', {});
    });
  });

  test('may set no more for a child than its share', async () => {
    gateway.secret = await gateway.key();
    await stage.whileWorking(async () => {
      stage.plan([step('conductor', 'Go deeper.'), step('b', 'Say it.', [0])]);
      stage.plan([step('a', 'Count.')]);
      stage.providers.script('conductor', [ACCEPT]);
      const letGo = stage.providers.hold('a');
      const id = await start();
      await stage.providers.waitForRequest(({ model }) => model === 'a');
      const child = `${id}-r0s1`;
      const { body: held } = await gateway.ask('GET', `/api/solves/${child}/limits`);
      for (const limit of ['calls', 'tokens', 'costUsd', 'wallClockMs'] as const) {
        const refused = await steer(child, 'limits', { [limit]: Number(held[limit]) + 1 });
        expect({ limit, ...refused }).toMatchObject({ limit, ...NOT_ALLOWED });
      }
      expect(await steer(child, 'depth', { depth: 2 })).toMatchObject(NOT_ALLOWED);
      letGo();
      expect(await endOf(stage, id)).toMatchObject({ status: 'completed' });
    });
  });
});

describe('an operator', () => {
  test('may ask for more than is configured', async () => {
    gateway.secret = await gateway.key({ isAdmin: true });
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Count.')]);
      const id = await startWaiting({ limits: { costUsd: null, depth: 3 } });
      const more = { steps: 9, depth: null, calls: 99, tokens: null, costUsd: 7, wallClockMs: 3_600_000 };
      expect((await steer(id, 'limits', more)).body).toMatchObject(more);
      await steer(id, 'cancel', {});
    });
  });

  test.each([
    ['a budget', { usdPerDay: 5 }],
    ['models', { models: ['conductor'] }],
  ])('is no admin key that has %s of its own', async (_, settings) => {
    gateway.secret = await gateway.key({ isAdmin: true, ...settings });
    const refused = await gateway.ask('POST', '/api/solves', { question, limits: { calls: 31 } });
    expect(refused).toMatchObject(NOT_ALLOWED);
  });

  test('sets what others may then set: more than they might, or less', async () => {
    const admin = await gateway.key({ isAdmin: true });
    await stage.whileWorking(async () => {
      stage.plan([step('a', 'Count.')]);
      const id = await startWaiting();
      expect(await steer(id, 'limits', { costUsd: 2, calls: 10 }, admin)).toMatchObject({ status: 200 });
      expect((await steer(id, 'limits', { costUsd: 0.5 })).body).toMatchObject({ costUsd: 0.5 });
      expect((await steer(id, 'limits', { costUsd: 2 })).body).toMatchObject({ costUsd: 2 });
      expect(await steer(id, 'limits', { costUsd: 2.1 })).toMatchObject(NOT_ALLOWED);
      expect(await steer(id, 'limits', { calls: 11 })).toMatchObject(NOT_ALLOWED);
      await steer(id, 'cancel', {});
    });
  });

  test('may have the Conductor asked in a solve whose key may not', async () => {
    gateway.secret = await gateway.key({ models: ['worker/a'] });
    const admin = await gateway.key({ isAdmin: true });
    await stage.whileWorking(async () => {
      const id = await startWaiting({ model: 'worker/a' });
      stage.plan([step('a', 'Count again.')]);
      expect(await steer(id, 'reject', { reason: 'Count twice.' }, admin)).toMatchObject({ status: 200 });
      await until(
        () => steer(id, 'approve', {}),
        ({ status }) => status === 200,
      );
      await endOf(stage, id);
      expect(stage.requestsTo('conductor')).toHaveLength(1);

      // A retry by an operator keeps the rights of the earlier solve, widened to the limits that it names.
      stage.providers.script('conductor', [ACCEPT]);
      for (const [limits, reviews] of [
        [{}, 0],
        [{ depth: 1 }, 1],
      ] as const) {
        const { body } = await steer(id, 'retry', { from: 0, limits }, admin);
        const again = String(body.id);
        await until(
          () => steer(again, 'approve', {}, admin),
          ({ status }) => status === 200,
        );
        await endOf(stage, again);
        expect(stage.requestsTo('conductor')).toHaveLength(1 + reviews);
      }
    });
  });
});
