import { request as httpRequest } from 'node:http';
import type { Payload } from '@temporalio/common';
import { startCodecServer } from '../../src/gateway/codec-server';
import type { Listening } from '../../src/network/listen';
import type { TextRef } from '../../src';
import { keepText } from '../../src/store/texts';
import { step } from '../support/stage';
import { type EncryptedStage, openEncryptedStage } from './encrypted-stage';
import { payloadsIn } from './payloads-in';
import { keyRing } from './test-keys';

const keys = keyRing('b', 'a');
const PAGE = 'http://127.0.0.1:8233';
const TOKEN = 'a-token-of-these-tests';
const QUESTION = 'What does the page show?';
const LONG = 'long enough to lie in the store. '.repeat(300);

/** A payload in JSON. */
interface WirePayload {
  readonly metadata?: Record<string, string>;
  readonly data?: string;
}

let stage: EncryptedStage;
let server: Listening;
/** Every payload in the history of a real run. */
let encrypted: WirePayload[];
const complaints: string[] = [];

beforeAll(async () => {
  stage = await openEncryptedStage({ workers: ['a', 'b'] });
  stage.plan([step('a', 'Say much.'), step('b', 'Sum up.', [0])]);
  stage.providers.answer('a', LONG);
  stage.providers.answer('b', 'in short');
  const { id } = await stage.whileWorkingWith(keys, () =>
    stage.conductorWith(keys).solve({ question: QUESTION }),
  );
  const history = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  encrypted = [...payloadsIn(history)].map(toWire);

  server = await startCodecServer({
    host: '127.0.0.1',
    port: 0,
    origins: [PAGE],
    token: TOKEN,
    namespace: 'default',
    keys,
    store: stage.storeWith(keys),
    say: (line) => complaints.push(line),
  });
});
afterAll(async () => {
  await server.close();
  await stage.close();
});

function toWire({ metadata, data }: Payload): WirePayload {
  const words = Object.entries(metadata ?? {}).map(([name, bytes]) => [name, toBase64(bytes)] as const);
  return { metadata: Object.fromEntries(words), ...(data && { data: toBase64(data) }) };
}

function plain(json: string): WirePayload {
  return toWire({ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(json) });
}

function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function textOf(payload: WirePayload | undefined): string {
  return Buffer.from(payload?.data ?? '', 'base64').toString();
}

/** Headers as Temporal's web page sends them. */
const HEADERS = {
  'content-type': 'application/json',
  'x-namespace': 'default',
  origin: PAGE,
  authorization: `Bearer ${TOKEN}`,
};

function post(
  path: string,
  payloads: readonly WirePayload[],
  headers: Record<string, string> = {},
): Promise<Response> {
  const body = JSON.stringify({ payloads });
  return fetch(server.url + path, { method: 'POST', headers: { ...HEADERS, ...headers }, body });
}

async function convert(path: string, payloads: readonly WirePayload[]): Promise<WirePayload[]> {
  const response = await post(path, payloads);
  const { payloads: converted } = (await response.json()) as { payloads: WirePayload[] };
  return converted;
}

async function refusal(answer: Promise<Response>): Promise<{ status: number; message: string }> {
  const response = await answer;
  const { message } = (await response.json()) as { message: string };
  return { status: response.status, message };
}

describe('an authorized request', () => {
  test('is shown the payloads of a real run, with long texts by reference if the page asks for that', async () => {
    expect(encrypted.length).toBeGreaterThan(6);
    expect(encrypted.map(textOf).join()).not.toContain(QUESTION);
    const shown = (await convert('/decode?preserveStorageRefs=true', encrypted)).map(textOf);
    expect(shown.join()).toContain(`"question":"${QUESTION}"`);
    expect(shown.join()).toMatch(/\{"ref":"sha256-[0-9a-f]{64}","bytes":9900,"preview":"long enough/);
    expect(shown.join()).not.toContain(LONG);
  });

  test.each(['/download', '/decode', '/download?preserveStorageRefs=true'])(
    'gets long texts in full from %s',
    async (path) => {
      const shown = (await convert(path, encrypted)).map(textOf).join();
      expect(shown).toContain(LONG);
      expect(shown).not.toContain('"ref"');
    },
  );

  test('can decode what it encoded, which looks like what a worker sends', async () => {
    const payload = plain('"plain"');
    const [encoded, empty] = await convert('/encode', [payload, {}]);
    expect(textOf({ data: encoded?.metadata?.['encryption-key-id'] ?? '' })).toBe('b');
    expect(textOf(encoded)).not.toContain('plain');
    expect(await convert('/decode', [encoded ?? {}, empty ?? {}, payload])).toEqual([payload, {}, payload]);
  });

  test('needs no token for its preflight, as browsers send it', async () => {
    const { status, headers } = await fetch(`${server.url}/decode`, {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-headers': 'authorization,x-namespace' },
    });
    expect(status).toBe(204);
    expect(headers.get('access-control-allow-origin')).toBe(PAGE);
    expect(headers.get('access-control-allow-credentials')).toBe('true');
    expect(headers.get('access-control-allow-headers')).toMatch(/authorization.*content-type.*x-namespace/);
  });

  test('gets answers and refusals that the page can read and nobody caches', async () => {
    for (const response of [await post('/decode', []), await post('/nowhere', [])]) {
      expect(response.headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(response.headers.get('cache-control')).toBe('no-store');
    }
  });
});

describe('refused, with a sentence:', () => {
  test.each<[string, number, RegExp, () => Promise<Response>]>([
    ['no token', 401, /Bearer/, () => post('/decode', [], { authorization: '' })],
    ['a wrong token', 401, /Bearer/, () => post('/decode', [], { authorization: `Bearer ${TOKEN}x` })],
    ['a token without its scheme', 401, /Bearer/, () => post('/decode', [], { authorization: TOKEN })],
    [
      "a stranger's page",
      403,
      /--origin http:\/\/evil/,
      () => post('/decode', [], { origin: 'http://evil' }),
    ],
    [
      'another namespace',
      403,
      /"default".* "theirs"/,
      () => post('/decode', [], { 'x-namespace': 'theirs' }),
    ],
    ['another path', 404, /\/encode, \/decode, \/download/, () => post('/', [])],
    ['another method', 405, /takes only POST/, () => fetch(`${server.url}/decode`, { headers: HEADERS })],
    ['another type', 415, /application\/json, .* a\/b/, () => post('/decode', [], { 'content-type': 'a/b' })],
  ])('%s', async (_, status, sentence, ask) => {
    expect(await refusal(ask())).toEqual({ status, message: expect.stringMatching(sentence) as string });
  });

  const malformed = ['{"payloads": [{"data": "no base64!"}]}', '{"payloads": [{"metadata": {"a": 1}}]}'];
  test.each(['', '{', '[]', ...malformed])('a body that is %j', async (body) => {
    const ask = fetch(`${server.url}/decode`, { method: 'POST', headers: HEADERS, body });
    const message: unknown = expect.stringContaining('body');
    expect(await refusal(ask)).toMatchObject({ status: 400, message });
  });

  test('a body that is too long, whether or not it declares its length', async () => {
    const long = Buffer.alloc(17 * 1024 * 1024, ' ');
    const sized = fetch(`${server.url}/decode`, { method: 'POST', headers: HEADERS, body: long });
    const message: unknown = expect.stringContaining('shorten');
    expect(await refusal(sized)).toMatchObject({ status: 413, message });
    expect(await statusOfStream(long)).toBe(413);
  });

  test('a payload of a lost key, an altered payload, and a missing text', async () => {
    const first = encrypted[0] ?? {};
    const metadata = { ...first.metadata, 'encryption-key-id': toBase64(Buffer.from('lost')) };
    expect(await refusal(post('/decode', [{ ...first, metadata }]))).toEqual({
      status: 422,
      message: expect.stringContaining('key "lost", which TEST_KEYS does not hold') as string,
    });
    const altered = { ...first, data: toBase64(Buffer.from(first.data ?? '', 'base64').reverse()) };
    expect(await refusal(post('/decode', [altered]))).toMatchObject({ status: 422 });

    const gone = { ref: `sha256-${'0'.repeat(64)}`, bytes: 5000, preview: '' };
    const payload = plain(JSON.stringify([gone]));
    expect(await refusal(post('/download', [payload]))).toEqual({
      status: 404,
      message: expect.stringContaining('is not in the store') as string,
    });
    expect(await convert('/decode?preserveStorageRefs=true', [payload])).toEqual([payload]);
  });

  test('texts that are too large together over several payloads, whatever sizes their references claim', async () => {
    const kept = (await keepText(stage.storeWith(keys), LONG)) as TextRef;
    const payload = plain(JSON.stringify(Array<TextRef>(4000).fill({ ...kept, bytes: 1 })));
    expect((await post('/download', [payload])).status).toBe(200);
    expect(await refusal(post('/download', [payload, payload]))).toMatchObject({ status: 413 });
  });
});

test('a failure of its own is named in its log, and not told to the page', async () => {
  const store = stage.storeWith(keys);
  const read = (): Promise<never> => Promise.reject(new Error('the disk is gone'));
  const said: string[] = [];
  const broken = await startCodecServer({
    ...{ host: '127.0.0.1', port: 0, origins: [PAGE], token: null, namespace: 'default', keys },
    store: Object.assign(Object.create(store) as typeof store, { read }),
    say: (line) => said.push(line),
  });
  const kept = (await keepText(store, LONG)) as TextRef;
  const body = JSON.stringify({ payloads: [plain(JSON.stringify(kept))] });
  const asked = fetch(`${broken.url}/download`, { method: 'POST', headers: HEADERS, body });
  const message = 'the codec server failed; see its log for the cause';
  expect(await refusal(asked)).toEqual({ status: 500, message });
  expect(said).toEqual(['codec server: the disk is gone']);
  await broken.close();
});

test('the server reported no error of its own', () => {
  expect(complaints).toEqual([]);
});

/** Sends a body in chunks, without its length, and returns the status of the response. */
function statusOfStream(body: Buffer): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = httpRequest(`${server.url}/decode`, { method: 'POST', headers: HEADERS }, (response) => {
      resolve(response.statusCode);
      response.resume();
    });
    sending.on('error', reject);
    sending.write(body);
    sending.end();
  });
}
