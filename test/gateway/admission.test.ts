import { request } from 'node:http';
import { type GatewayAnswer, useGateway } from '../support/gateway';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a', 'b'], simulation: { models: { a: { answer: 'Eight.' } } } });

const gateway = useGateway(stage);

/** Shorter than a body may be, and longer than Temporal takes. */
const LONG = 'x'.repeat(3 * 1024 * 1024);
const planOf = (subtask: string, sees: readonly number[] = []) => ({
  steps: [{ worker: 'a', subtask, sees }],
});

const BODY = { model: 'worker/a', messages: [{ role: 'user', content: 'How many legs?' }] };

const post = (body: unknown, headers = {}): Promise<GatewayAnswer> =>
  gateway.ask('POST', '/v1/chat/completions', body, { headers });

/** Returns a text in chunks. */
const inChunks = (...chunks: readonly string[]): ReadableStream =>
  ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());

describe('refuses, with what to do,', () => {
  const image = [{ type: 'image_url', image_url: { url: 'data:,' } }];
  const tool = { type: 'function', function: { name: 'search' } };
  test.each([
    ['malformed JSON', '{', 400, 'bad_request', /JSON/],
    ['no messages', { model: 'conductor' }, 400, 'invalid_value', /^messages is missing: expected a list$/],
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
      'functions as they were sent before tools',
      { ...BODY, functions: [tool] },
      400,
      'unsupported_parameter',
      /^functions is not supported: send functions as tools/,
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
      /expected the id of the call/,
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
      body: { error: { code, message: expect.stringMatching(message) as string } },
    });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(gateway.said).toEqual([]);
  });

  const TOO_LARGE = { status: 413, body: { error: { code: 'too_large' } } };

  test('a body of more than 8 MiB', async () => {
    expect(await post({ ...BODY, user: 'x'.repeat(9 * 1024 * 1024) })).toMatchObject(TOO_LARGE);
  });

  test('a body of more than 8 MiB, in chunks of undeclared length', async () => {
    const chunks = Array.from({ length: 9 }, () => 'x'.repeat(1024 * 1024));
    expect(await post(inChunks('{"user":"', ...chunks))).toMatchObject(TOO_LARGE);
  });

  test.each(['hint', 'reject', 'approve', 'retry'])('a body of %s too long for Temporal', async (name) => {
    const answer = await gateway.ask('POST', `/api/solves/some/${name}`, { reason: LONG });
    expect(answer).toMatchObject(TOO_LARGE);
  });

  test('a plan that breaks a rule', async () => {
    const plan = planOf('Count.', [0]);
    await stage.whileWorking(async () => {
      const refused = await post({ ...BODY, model: 'conductor', conductor: { plan } });
      expect(refused).toMatchObject({ status: 400, body: { error: { code: 'Plan.Invalid' } } });
    });
  });

  test('a request that no worker can do', async () => {
    const refused = await post(BODY);
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'no_worker' } } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  test('an unknown path', async () => {
    const unknown = { status: 404, body: { error: { code: 'unknown_url' } } };
    expect(await gateway.ask('GET', '/v1/embeddings')).toMatchObject(unknown);
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

  test('opens the gateway beside a credential that is not its own', async () => {
    const [ours, foreign] = [gateway.secret, 'sk-ant-oat01-of-another-login'];
    for (const [key, bearer] of [
      [ours, foreign],
      [foreign, ours],
      [`${ours}x`, ours],
    ]) {
      expect(await status({ 'x-api-key': `${key}`, authorization: `Bearer ${bearer}` })).toBe(200);
    }
    expect(await status({ 'x-api-key': foreign, authorization: `Bearer ${foreign}` })).toBe(401);
  });

  test('that is sent twice is one request', async () => {
    const secret = await gateway.key({ requestsPerMinute: 1 });
    const headers = { 'x-api-key': secret, authorization: `Bearer ${secret}` };
    expect([await status(headers), await status(headers)]).toEqual([200, 429]);
  });

  test('can ask only for its own models', async () => {
    gateway.secret = await gateway.key({ models: ['worker/b'] });
    const { body } = await gateway.ask('GET', '/v1/models');
    expect((body.data as { id: string }[]).map(({ id }) => id)).toEqual(['worker/b']);
    const unknown = { status: 404, body: { error: { code: 'model_not_found' } } };
    expect(await post(BODY)).toMatchObject(unknown);
  });

  test('can send only as many requests a minute as it may', async () => {
    gateway.secret = await gateway.key({ requestsPerMinute: 2 });
    const headers = { 'x-api-key': gateway.secret };
    expect([await status(headers), await status(headers)]).toEqual([200, 200]);
    const refused = await gateway.ask('GET', '/v1/models');
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
  });
});

test('a daily budget holds what concurrent requests may cost, and frees what they did not spend', async () => {
  gateway.secret = await gateway.key({ usdPerDay: 0.1 });
  const release = stage.providers.hold('a');
  const dear = { ...BODY, conductor: { max_cost_usd: 0.05 } };
  await stage.whileWorking(async () => {
    const refused: GatewayAnswer[] = [];
    const asked = Array.from({ length: 12 }, async () => {
      const answer = await post(dear);
      if (answer.status === 402 && refused.push(answer) === 10) release();
      return answer.status;
    });
    expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(2);
    expect(refused[0]?.body.error).toMatchObject({
      code: 'insufficient_quota',
      message: expect.stringContaining('$0.1000 a day') as string,
    });
    expect((await post(dear)).status).toBe(200);
  });
  expect(stage.requestsTo('a')).toHaveLength(3);
});

/** Returns the status of a request that names this host. */
function statusAt(host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { host, 'x-api-key': gateway.secret };
    request(`${gateway.url}/v1/models`, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test.each(['evil.example:8484', '127.0.0.1.evil.example', 'localhost.evil.example:80', 'evil.localhost'])(
  'a foreign page that lets its name, %j, resolve to this machine is refused',
  async (host) => {
    expect(await statusAt(host)).toBe(421);
  },
);

test.each(['127.0.0.1', 'LOCALHOST:8484', '[::1]:1'])('the name %s is this machine’s', async (host) => {
  expect(await statusAt(host)).toBe(200);
});

test('pages of other origins can read no answer', async () => {
  const response = await fetch(`${gateway.url}/v1/models`, {
    headers: { 'x-api-key': gateway.secret, origin: 'http://evil.example' },
  });
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});

test('a body in chunks of undeclared length is read like any other', async () => {
  const [start, end] = [JSON.stringify(BODY).slice(0, 20), JSON.stringify(BODY).slice(20)];
  await stage.whileWorking(async () => {
    expect(await post(inChunks(start, end))).toMatchObject({ status: 200 });
  });
});

test('ignored fields are listed, and the others reach the model', async () => {
  const ignored = { tools: [{ type: 'function' }], temperature: 0.1, top_p: 1, made_up: true };
  const asked = { ...BODY, ...ignored, seed: 7, max_tokens: 99 };
  await stage.whileWorking(async () => {
    const { body } = await post(asked, { 'x-conductor-ignore': 'tools, tool_choice' });
    const warnings = Object.keys(ignored).map((name) => `${name} is ignored`);
    expect(body).toMatchObject({ conductor: { warnings } });
  });
  const sent = JSON.parse(String(stage.requestsTo('a')[0]?.body)) as unknown;
  expect(sent).toMatchObject({ seed: 7, max_tokens: 99 });
});
