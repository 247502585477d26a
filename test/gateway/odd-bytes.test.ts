import { once } from 'node:events';
import { connect } from 'node:net';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { openGateway } from '../support/gateway';
import { openStage } from '../support/stage';
import { useOnce } from '../support/use';

const stage = useOnce(() => openStage({ workers: ['a'] }));
const gateway = useOnce(() => openGateway(stage));
let secret: string;
beforeAll(async () => {
  secret = await gateway.key({ isAdmin: true });
});

/** Sends bytes as they are, in Latin-1, and returns the status of the response. */
async function statusOf(line: string, headers: readonly string[] = [], body = ''): Promise<number> {
  const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1');
  await once(socket, 'connect');
  const all = ['Host: localhost', 'Connection: close', `Authorization: Bearer ${secret}`, ...headers];
  socket.write(Buffer.from(`${line} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`, 'latin1'));
  const answer = await buffer(socket);
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString('latin1'))?.[1]);
}

test.each([
  '/api/solves/%',
  '/api/solves/%00',
  '/api/solves/%ff',
  '/api/solves/\xff',
  '/api/solves/%ED%A0%80',
  '/api/solves/%0d%0a',
  '/api/solves/a%2Fb/events',
  `/api/solves/${'%F0%9F%95%B7'.repeat(400)}`,
  `/api/solves/${'%27'.repeat(300)}`,
  '/api/solves?limit=1e999',
  '/api/solves?limit=%',
  '/api/cost?since=0000-00-00',
  '/api/cost?since=-271821-04-20',
  '/api/evaluations/%00',
  '/api/evaluations/..%2F..%2Fgateway%2Fkeys',
  `/api/evaluations/${'x'.repeat(3000)}`,
  '/api/nights/..%2F..',
  '/api/nights/a/%00',
  '/v1/models/%E0%A4%A',
  '/v1/models/__proto__',
  '/v1/models/conductor%2F..%2F..',
  '/v1/responses/resp_%00',
  `/v1/responses/resp_${'a'.repeat(200)}`,
  '/v1/responses/resp_a?stream=true&starting_after=1e999',
  'http://[::1',
  '*',
  '/..',
  '//',
])('GET %s is refused', async (path) => {
  const status = await statusOf(`GET ${path}`);
  expect([status >= 400 && status < 500, gateway.said]).toEqual([true, []]);
});

const JSON_TYPE = 'Content-Type: application/json';

test.each([
  ['a body that is no UTF-8', [JSON_TYPE, 'Content-Length: 8'], '{"\xff\xfe":1}'],
  ['a body that is compressed', [JSON_TYPE, 'Content-Encoding: gzip', 'Content-Length: 3'], '\x1f\x8b\x08'],
  ['a body of another kind', ['Content-Type: \xff', 'Content-Length: 2'], '{}'],
  ['a body with two lengths', [JSON_TYPE, 'Content-Length: 2', 'Content-Length: 3'], '{}'],
  ['a body with a length, in chunks', [JSON_TYPE, 'Content-Length: 2', 'Transfer-Encoding: chunked'], '{}'],
  ['a chunk of no length', [JSON_TYPE, 'Transfer-Encoding: chunked'], 'x\r\n{}'],
  ['chunks', [JSON_TYPE, 'Transfer-Encoding: chunked'], '2\r\n{}\r\n0\r\n\r\n'],
  ['no chunk', [JSON_TYPE, 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['a key of odd bytes', [JSON_TYPE, 'Authorization: \xff', 'X-API-Key: \xff', 'Content-Length: 2'], '{}'],
  ['a header that is too long', [JSON_TYPE, `X-Long: ${'x'.repeat(200_000)}`], ''],
  ['arrays in arrays', [JSON_TYPE, 'Content-Length: 200000'], `${'['.repeat(1e5)}${']'.repeat(1e5)}`],
])('%s is refused', async (_, headers, body) => {
  const status = await statusOf('POST /v1/chat/completions', headers, body);
  expect([status >= 400 && status < 500, gateway.said]).toEqual([true, []]);
});

const ODD = fc.constantFrom(
  '\0',
  '\ud800',
  '\udc00\ud800',
  '__proto__',
  'constructor',
  '\u202e',
  '',
  ' ',
  '🕷',
);
const value = fc.oneof(
  ODD,
  fc.constantFrom(-0, 1e308, -1, 0.5, Number.MAX_SAFE_INTEGER, null, true, false, [], {}, [[]], [{}], [null]),
  fc.jsonValue({ stringUnit: 'binary' }),
);
const FIELDS = [
  'messages',
  'input',
  'system',
  'instructions',
  'max_tokens',
  'max_completion_tokens',
  'stream',
  'stream_options',
  'n',
  'seed',
  'user',
  'metadata',
  'text',
  'reasoning',
  'reasoning_effort',
  'response_format',
  'previous_response_id',
  'background',
  'tools',
  'tool_choice',
  'conductor',
];

test('requests with arbitrary field values for an unknown model are refused', async () => {
  const surface = fc.constantFrom('/v1/chat/completions', '/v1/messages', '/v1/responses', '/api/solves');
  const turn = { role: 'user', content: 'How many?' };
  const valid = { model: 'worker/none', max_tokens: 9, messages: [turn], input: [turn] };
  const changes = fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS), ODD), value, { maxKeys: 3 });
  await fc.assert(
    fc.asyncProperty(surface, changes, async (path, fields) => {
      const response = await fetch(`${gateway.url}${path}`, {
        method: 'POST',
        headers: { 'x-api-key': secret, 'content-type': 'application/json' },
        body: JSON.stringify({ ...valid, ...fields }),
      });
      const { error } = (await response.json()) as { readonly error: { readonly message: string } };
      expect([400, 404, 413]).toContain(response.status);
      expect(error.message).not.toBe('');
    }),
    { numRuns: 300 },
  );
  expect(gateway.said).toEqual([]);
});
