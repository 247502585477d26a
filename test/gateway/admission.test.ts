import { request } from 'node:http';
import { createKey, revokeKey } from '../../src/gateway/access/keys';
import { useGateway } from '../support/gateway';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a', 'b'], simulation: { models: { a: { answer: 'Eight.' } } } });

const gateway = useGateway(stage);

/** Shorter than a body may be, and longer than Temporal takes. */
const LONG = 'x'.repeat(3 * 1024 * 1024);
const planOf = (subtask: string, sees: readonly number[] = []) => ({
  steps: [{ worker: 'a', subtask, sees }],
});

const BODY = { model: 'worker/a', messages: [{ role: 'user', content: 'How many legs?' }] };

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly error: { readonly message: string; readonly code: string; readonly param: string | null };
}

async function post(body: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.secret}`, 'content-type': 'application/json', ...headers },
    ...(body instanceof ReadableStream
      ? { body: body.pipeThrough(new TextEncoderStream()), duplex: 'half' }
      : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as Pick<Answer, 'error'>;
  return { status: response.status, headers: response.headers, error };
}

describe('refuses, with what to do,', () => {
  const image = [{ type: 'image_url', image_url: { url: 'data:,' } }];
  const tool = { type: 'function', function: { name: 'search' } };
  test.each([
    ['malformed JSON', '{', 400, 'bad_request', /JSON/],
    ['no messages', { model: 'conductor' }, 400, 'invalid_value', /^messages: /],
    [
      'an unknown model',
      { ...BODY, model: 'gpt' },
      404,
      'model_not_found',
      /choose one of conductor, worker\/a/,
    ],
    ['no name of a checkpoint', { ...BODY, model: 'conductor/../..' }, 404, 'model_not_found', /"conductor/],
    [
      'a plan too long for Temporal',
      { ...BODY, model: 'conductor', conductor: { plan: planOf(LONG) } },
      413,
      'too_large',
      /the plan and the pool/,
    ],
    [
      'a pool too long for Temporal',
      { ...BODY, model: 'conductor', conductor: { pool: { deny: [LONG] } } },
      413,
      'too_large',
      /the plan and the pool/,
    ],
    ['an unknown worker', { ...BODY, model: 'worker/x' }, 404, 'model_not_found', /"worker\/x"/],
    [
      'tools',
      { ...BODY, tools: [tool] },
      400,
      'unsupported_parameter',
      /^tools is not supported: .*leave it out/,
    ],
    [
      'a pool for one worker alone',
      { ...BODY, conductor: { pool: { allow: ['b'] } } },
      400,
      'invalid_value',
      /a single worker/,
    ],
    ['two answers', { ...BODY, n: 2 }, 400, 'unsupported_parameter', /send the request again/],
    [
      'an image',
      { ...BODY, messages: [{ role: 'user', content: image }] },
      400,
      'unsupported_content',
      /only text/,
    ],
    [
      'a tool’s turn',
      { ...BODY, messages: [{ role: 'tool', content: '4' }] },
      400,
      'invalid_value',
      /role is "tool"/,
    ],
    [
      'an empty question',
      { ...BODY, messages: [{ role: 'user', content: ' ' }] },
      400,
      'invalid_value',
      /conversation/,
    ],
    ['no schema', { ...BODY, response_format: { type: 'json_schema' } }, 400, 'invalid_value', /JSON Schema/],
    ['an unknown extension', { ...BODY, conductor: { max_usd: 1 } }, 400, 'invalid_value', /max_usd/],
    [
      'an unknown worker of a pool',
      { ...BODY, model: 'conductor', conductor: { pool: { allow: ['x'] } } },
      400,
      'invalid_value',
      /"?x"?/,
    ],
  ])('%s', async (_, body, status, code, message) => {
    const refused = await post(body);
    expect(refused).toMatchObject({
      status,
      error: { code, message: expect.stringMatching(message) as string },
    });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(gateway.said).toEqual([]);
  });

  test('a body of more than 8 MiB', async () => {
    expect(await post({ ...BODY, user: 'x'.repeat(9 * 1024 * 1024) })).toMatchObject({
      status: 413,
      error: { code: 'too_large' },
    });
  });

  test('a body of more than 8 MiB, in chunks of undeclared length', async () => {
    const chunks = Array.from({ length: 9 }, () => 'x'.repeat(1024 * 1024));
    expect(await post(ReadableStream.from(['{"user":"', ...chunks]))).toMatchObject({
      status: 413,
      error: { code: 'too_large' },
    });
  });

  test.each(['hint', 'reject', 'approve', 'retry'])(
    'a body of %s that is too long for Temporal',
    async (name) => {
      const response = await fetch(`${gateway.url}/api/solves/some/${name}`, {
        method: 'POST',
        headers: { 'x-api-key': gateway.secret, 'content-type': 'application/json' },
        body: JSON.stringify({ reason: LONG }),
      });
      expect([response.status, await response.json()]).toMatchObject([413, { error: { code: 'too_large' } }]);
    },
  );

  test('a plan that breaks a rule', async () => {
    const plan = planOf('Count.', [0]);
    await stage.whileWorking(async () => {
      const refused = await post({ ...BODY, model: 'conductor', conductor: { plan } });
      expect(refused).toMatchObject({ status: 400, error: { code: 'Plan.Invalid' } });
    });
  });

  test('a request that no worker can do', async () => {
    const refused = await post(BODY);
    expect(refused).toMatchObject({ status: 503, error: { code: 'no_worker' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('an unknown path', async () => {
    const response = await fetch(`${gateway.url}/v1/embeddings`, {
      headers: { authorization: `Bearer ${gateway.secret}` },
    });
    expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'unknown_url' } }]);
  });
});

describe('a key', () => {
  const status = async (headers: Record<string, string>): Promise<number> => {
    const response = await fetch(`${gateway.url}/v1/models`, { headers });
    await response.text();
    return response.status;
  };

  test('opens the gateway in either vendor’s header, and nothing else does', async () => {
    expect(await status({ authorization: `Bearer ${gateway.secret}` })).toBe(200);
    expect(await status({ 'x-api-key': gateway.secret })).toBe(200);
    expect(await status({})).toBe(401);
    expect(await status({ authorization: `Bearer ${gateway.secret}x` })).toBe(401);
    expect(await status({ authorization: `Basic ${gateway.secret}` })).toBe(401);
  });

  test('opens nothing after it was revoked', async () => {
    const free = { isAdmin: false, models: null, usdPerDay: null, requestsPerMinute: null, expiresAt: null };
    const made = await createKey(stage.store, { name: 'gone', ...free });
    await revokeKey(stage.store, 'gone');
    expect(await status({ 'x-api-key': made.secret })).toBe(401);
  });

  test('can ask only for its own models', async () => {
    gateway.secret = await gateway.key({ models: ['worker/b'] });
    const response = await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': gateway.secret } });
    const { data } = (await response.json()) as { data: { id: string }[] };
    expect(data.map(({ id }) => id)).toEqual(['worker/b']);
    expect(await post(BODY)).toMatchObject({ status: 404, error: { code: 'model_not_found' } });
  });

  test('can send only as many requests a minute as it may', async () => {
    gateway.secret = await gateway.key({ requestsPerMinute: 2 });
    const headers = { 'x-api-key': gateway.secret };
    expect([await status(headers), await status(headers)]).toEqual([200, 200]);
    const response = await fetch(`${gateway.url}/v1/models`, { headers });
    expect([response.status, Number(response.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});

test('a daily budget holds what concurrent requests may cost, and frees what they did not spend', async () => {
  gateway.secret = await gateway.key({ usdPerDay: 0.1 });
  const release = stage.providers.hold('a');
  const dear = { ...BODY, conductor: { max_cost_usd: 0.05 } };
  await stage.whileWorking(async () => {
    const refused: Answer[] = [];
    const asked = Array.from({ length: 12 }, async () => {
      const answer = await post(dear);
      if (answer.status === 402 && refused.push(answer) === 10) release();
      return answer.status;
    });
    expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(2);
    expect(refused[0]?.error).toMatchObject({
      code: 'insufficient_quota',
      message: expect.stringContaining('$0.1000 a day') as string,
    });
    expect((await post(dear)).status).toBe(200);
  });
  expect(stage.requestsTo('a')).toHaveLength(3);
});

test('a foreign page that lets its name resolve to this machine is refused', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { host: 'evil.example:8484', 'x-api-key': gateway.secret };
    request(`${gateway.url}/v1/models`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(421);
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { 'x-api-key': gateway.secret, origin: 'http://evil.example' },
  });
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('a body in chunks of undeclared length is read like any other', async () => {
  const [start, end] = [JSON.stringify(BODY).slice(0, 20), JSON.stringify(BODY).slice(20)];
  await stage.whileWorking(async () => {
    expect(await post(ReadableStream.from([start, end]))).toMatchObject({ status: 200 });
  });
});

test('ignored fields are listed, and the others reach the model', async () => {
  const ignored = { temperature: 0.1, top_p: 1, made_up: true, tools: [{ type: 'function' }] };
  const asked = { ...BODY, ...ignored, seed: 7, max_tokens: 99 };
  await stage.whileWorking(async () => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        'x-api-key': gateway.secret,
        'content-type': 'application/json',
        'x-conductor-ignore': 'tools, tool_choice',
      },
      body: JSON.stringify(asked),
    });
    expect(await response.json()).toMatchObject({
      conductor: { warnings: Object.keys(ignored).map((name) => `${name} is ignored`) },
    });
  });
  const sent = JSON.parse(String(stage.requestsTo('a')[0]?.body)) as unknown;
  expect(sent).toMatchObject({ seed: 7, max_tokens: 99 });
});
