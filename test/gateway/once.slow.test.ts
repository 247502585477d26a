import OpenAI from 'openai';
import { Closing } from '../../src/gateway/closing';
import { unlessLeft } from '../../src/gateway/solve/answer';
import { type GatewayAnswer, openGateway, useGateway } from '../support/gateway';
import { step, useStage } from '../support/stage';
import { until } from '../support/until';

const stage = useStage({ workers: ['a'], simulation: { models: { a: { answer: 'Eight.' } } } });

const gateway = useGateway(stage);

const BODY = { model: 'worker/a', messages: [{ role: 'user' as const, content: 'How many legs?' }] };

const CHAT = '/v1/chat/completions';
const post = (headers: Record<string, string>, body: object = BODY): Promise<GatewayAnswer> =>
  gateway.ask('POST', CHAT, body, { headers });

const solveOf = ({ headers }: Pick<Response, 'headers'>): string | null => headers.get('x-conductor-solve');

test('a client that times out repeatedly pays once, and gets the one answer', async () => {
  const release = stage.providers.hold('a');
  const attempts: string[] = [];
  const openai = new OpenAI({
    baseURL: `${gateway.url}/v1`,
    apiKey: gateway.secret,
    timeout: 1500,
    maxRetries: 5,
    fetch: (url, init) => {
      attempts.push(new Headers(init?.headers).get('x-stainless-retry-count') ?? '');
      if (attempts.length < 4) return fetch(url, init);
      release();
      // The answer may take any time from now on.
      return fetch(url, { ...init, signal: null });
    },
  });
  await stage.whileWorking(async () => {
    const { choices } = await openai.chat.completions.create(BODY);
    expect(choices[0]?.message.content).toBe('Eight.');
  });
  expect(attempts).toEqual(['0', '1', '2', '3']);
  expect(stage.requestsTo('a')).toHaveLength(1);
});

test('requests with one idempotency key are one solve, concurrently, later, and at another gateway', async () => {
  const key = { 'idempotency-key': 'order-17' };
  await stage.whileWorking(async () => {
    const together = await Promise.all([post(key), post(key), post(key)]);
    const other = await openGateway(stage);
    const later = await other.ask('POST', CHAT, BODY, { key: gateway.secret, headers: key });
    const answers = [...together, later];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(solveOf)).size).toBe(1);
    await other.close();
  });
  expect(stage.requestsTo('a')).toHaveLength(1);
});

test('an idempotency key is refused if it was used for another request', async () => {
  const key = { 'idempotency-key': 'order-17' };
  await stage.whileWorking(async () => {
    await post(key);
    const other = await post(key, { ...BODY, seed: 2 });
    const message = expect.stringContaining('use a new one') as string;
    expect(other).toMatchObject({
      status: 409,
      body: { error: { code: 'idempotency_key_reused', message } },
    });
  });
});

test('the same idempotency key of two callers makes two solves', async () => {
  const key = { 'idempotency-key': 'order-17' };
  await stage.whileWorking(async () => {
    const own = solveOf(await post(key));
    gateway.secret = await gateway.key();
    expect(solveOf(await post(key))).not.toBe(own);
  });
});

test('a question that is asked twice on purpose is answered twice', async () => {
  await stage.whileWorking(async () => {
    const first = { 'x-stainless-retry-count': '0' };
    const [one, two] = [solveOf(await post(first)), solveOf(await post(first))];
    expect(one).not.toBe(two);
    // A repeated request joins the latest identical one.
    expect(solveOf(await post({ 'x-stainless-retry-count': '1' }))).toBe(two);
  });
});

/** Sends a request of a client that may leave. */
function send(body: object, signal: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json' };
  return fetch(gateway.url + CHAT, { method: 'POST', headers, body: JSON.stringify(body), signal });
}

test('a client that disconnects cancels nothing, unless it asked for that', async () => {
  const release = stage.providers.hold('a');
  const leave = async (conductor: object): Promise<string> => {
    const gone = new AbortController();
    const id = solveOf(await send({ ...BODY, stream: true, conductor }, gone.signal)) ?? '';
    gone.abort();
    return id;
  };
  await stage.whileWorking(async () => {
    const [kept, cancelled] = [await leave({}), await leave({ on_disconnect: 'cancel' })];
    expect(await (await stage.client.attach(cancelled)).result()).toMatchObject({ status: 'cancelled' });
    release();
    expect(await (await stage.client.attach(kept)).result()).toMatchObject({ answer: 'Eight.' });
  });
});

test('a client that waits for a whole answer and disconnects cancels its solve if it asked for that', async () => {
  const release = stage.providers.hold('a');
  const gone = new AbortController();
  const asking = send({ ...BODY, conductor: { on_disconnect: 'cancel' } }, gone.signal).catch(() => null);
  await stage.whileWorking(async () => {
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    gone.abort();
    await asking;
    const [, , keyId = ''] = gateway.secret.split('-');
    const { runs } = await until(
      () => stage.client.list({ prefix: `gw-${keyId}-` }),
      (listed) => listed.runs.length === 1,
    );
    const ended = await (await stage.client.attach(runs[0]?.id ?? '')).result();
    expect(ended).toMatchObject({ status: 'cancelled' });
  });
  release();
});

test('a client that left while its solve was starting cancels it if it asked for that', async () => {
  stage.plan([step('a', 'Count.')]);
  const release = stage.providers.hold('a');
  await stage.whileWorking(async () => {
    const run = await stage.client.start({ question: 'How many legs?' });
    const asked = { extension: { on_disconnect: 'cancel' as const } };
    const client = { gateway: { conductor: stage.client, closing: new Closing() }, asked, solve: run };
    const waiting = unlessLeft(client, AbortSignal.abort(), () => run.result());
    expect(await waiting).toMatchObject({ status: 'cancelled' });
  });
  release();
});

test('a stopping gateway that cuts off its last clients cancels nothing', async () => {
  stage.plan([step('a', 'Count.')]);
  const closing = new Closing();
  closing.end();
  await stage.whileWorking(async () => {
    const run = await stage.client.start({ question: 'How many legs?' });
    const asked = { extension: { on_disconnect: 'cancel' as const } };
    const client = { gateway: { conductor: stage.client, closing }, asked, solve: run };
    const waiting = unlessLeft(client, AbortSignal.abort(), () => run.result());
    expect(await waiting).toMatchObject({ status: 'completed', answer: 'Eight.' });
  });
});

test('a failed solve is reported with its id, and a repeated request gets the same report', async () => {
  stage.plan([step('a', 'Count.')]);
  stage.providers.script('a', [{ fault: 'refusal' }]);
  await stage.whileWorking(async () => {
    const failed = await post({ 'idempotency-key': 'k' }, { ...BODY, model: 'conductor' });
    const again = await post({ 'idempotency-key': 'k' }, { ...BODY, model: 'conductor' });
    expect([failed.status, failed.headers.get('x-should-retry')]).toEqual([502, 'false']);
    const message = expect.stringMatching(/^solve gw-\S+ gave no answer: .*step 1/) as string;
    expect(failed.body).toMatchObject({ error: { message } });
    expect(again.body).toEqual(failed.body);
  });
  expect(stage.requestsTo('a')).toHaveLength(1);
});
