import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { Anthropic } from '@anthropic-ai/sdk';
import { type Listening, serve } from '../../support/serve';
import { useProviders } from '../../testing/use-providers';
import { aRequest, DIALECTS, KEY } from './ask';

/** Headers that a request may carry. Node's `fetch` adds those of the connection by itself. */
const OURS = ['accept', 'content-type', 'user-agent'];
const OF_THE_CONNECTION =
  'host connection content-length accept-encoding accept-language sec-fetch-mode'.split(' ');
const OF_THE_PROVIDER: Readonly<Record<string, readonly string[]>> = {
  openai: ['authorization', 'x-client-request-id'],
  anthropic: ['authorization', 'anthropic-version'],
  google: ['x-goog-api-key'],
};

const PACKAGES = ['openai', '@anthropic-ai/sdk', '@google/genai'];
const VARIABLE = /\b(?:OPENAI|ANTHROPIC|GOOGLE|GEMINI)_[A-Z_]{2,50}\b/g;

/** Returns every environment variable named in the code of the SDKs, whatever their versions. */
function variablesOfSdks(): string[] {
  const files = PACKAGES.flatMap((name) => {
    const folder = join(__dirname, '../../../node_modules', name);
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.c?js$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file));
  });
  return [...new Set(files.flatMap((file) => readFileSync(file, 'utf8').match(VARIABLE) ?? []))];
}

const STRANGE_HEADERS = [
  'Authorization: Bearer stranger-1',
  'X-Api-Key: stranger-2',
  'X-Goog-Api-Key: stranger-3',
  'User-Agent: stranger-4',
  'Accept: stranger/5',
  'Anthropic-Version: stranger-6',
  'X-Client-Request-Id: stranger-7',
  'X-Stranger: stranger-8',
].join('\n');

/** Returns a value with the greatest effect that the variable can have. */
function strange(name: string, trap: string): string {
  if (name.endsWith('_HEADERS')) return STRANGE_HEADERS;
  if (name.endsWith('_URL')) return trap;
  return /_USE_|_OPEN_TELEMETRY/.test(name) ? 'true' : `stranger-of-${name}`;
}

const providers = useProviders();
const before = { ...process.env };
const trapped: IncomingHttpHeaders[] = [];
let trap: Listening;

beforeAll(async () => {
  trap = await serve(({ headers }, response) => {
    trapped.push(headers);
    response.writeHead(500).end();
  });
  for (const name of variablesOfSdks()) process.env[name] = strange(name, trap.url);
});
afterAll(async () => {
  await trap.close();
  process.env = before;
});

test('the variables that the SDKs read are found in their code', () => {
  expect(variablesOfSdks()).toEqual(
    expect.arrayContaining([
      ...'CUSTOM_HEADERS ORG_ID PROJECT_ID BASE_URL ADMIN_KEY'.split(' ').map((name) => `OPENAI_${name}`),
      ...['ANTHROPIC_CUSTOM_HEADERS', 'ANTHROPIC_BASE_URL', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_PROFILE'],
      ...['GOOGLE_API_KEY', 'GOOGLE_GENAI_USE_VERTEXAI', 'GOOGLE_CLOUD_PROJECT', 'GOOGLE_GEMINI_BASE_URL'],
    ]),
  );
});

test("the version and the key are sent as Anthropic's SDK itself sends them", async () => {
  const saved = { ...process.env };
  for (const name of variablesOfSdks()) Reflect.deleteProperty(process.env, name);
  const sdk = new Anthropic({ apiKey: KEY, baseURL: providers.url, maxRetries: 0 });
  process.env = saved;
  const messages = [{ role: 'user' as const, content: 'Why?' }];
  await sdk.messages.create({ model: 'sim-1', max_tokens: 9, messages });
  const card = DIALECTS.find(({ name }) => name.startsWith('Anthropic'));
  await card?.complete(aRequest(card.card(providers.url)));
  const [theirs, ours] = providers.log.map(({ headers }) => headers);
  for (const name of OF_THE_PROVIDER.anthropic ?? []) expect(ours?.[name]).toBe(theirs?.[name]);
});

describe.each(DIALECTS)('$name, with all variables of the SDKs set', ({ complete, card }) => {
  test.each([
    ['a key', KEY],
    ['no key', null],
  ])('sends what the card says and %s, and nothing from those variables', async (_, apiKey) => {
    await complete(aRequest(card(providers.url), { apiKey, callId: 'call-1' })).catch(() => undefined);
    const [request] = providers.log;
    const headers = request?.headers ?? {};
    const allowed = [...OURS, ...OF_THE_CONNECTION, ...(OF_THE_PROVIDER[card('').provider] ?? [])];
    expect(Object.keys(headers).filter((name) => !allowed.includes(name))).toEqual([]);
    expect(JSON.stringify(request)).not.toMatch(/strange/);
    expect(JSON.stringify(headers).includes(KEY)).toBe(apiKey !== null);
    expect(JSON.stringify(headers)).not.toContain('none');
    expect(trapped).toEqual([]);
  });
});
