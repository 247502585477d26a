import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { OpenAPIHono } from '@hono/zod-openapi';
import { createPass, KeyChecker, revokeKey } from '../../src/gateway/access';
import type { Env } from '../../src/gateway/gateway';
import { openPage } from '../../src/gateway/page';
import { openGateway, useGateway } from '../support/gateway';
import { useStage } from '../support/stage';

const stage = useStage({ workers: ['a'] });

const gateway = useGateway(stage);
let secret: string;
beforeEach(async () => (secret = await gateway.key({ name: 'ada' })));

/** Returns the headers that a browser adds to requests of the gateway's own page. */
const own = (): Record<string, string> => ({ origin: gateway.url, 'sec-fetch-site': 'same-origin' });

function ask(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: object,
): Promise<Response> {
  return fetch(gateway.url + path, {
    method,
    headers: { connection: 'close', ...headers, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
}

const signIn = (body: object, headers = own()): Promise<Response> => ask('POST', '/session', headers, body);

async function makeLink(): Promise<string> {
  const key = await new KeyChecker(stage.store).check(secret);
  if (key === null) throw new Error('the key does not hold');
  return createPass(stage.store, 'link', key);
}

/** Returns the cookie that a response sets, as it is sent back. */
const cookieOf = ({ headers }: Response): string => /^[^;]*/.exec(headers.get('set-cookie') ?? '')?.[0] ?? '';

async function me(cookie: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await ask('GET', '/api/me', { cookie, ...headers });
  return response.status === 200 ? ((await response.json()) as { name: string }).name : response.status;
}

test('a key signs in, its session survives a restart of the gateway, and signing out ends it', async () => {
  const response = await signIn({ key: secret });
  expect(response.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
  expect(response.headers.get('set-cookie')).toContain('Path=/');
  const cookie = cookieOf(response);
  expect(cookie).not.toContain(secret.slice(-43));
  expect(await me(cookie)).toBe('ada');

  await gateway.close();
  const port = Number(new URL(gateway.url).port);
  Object.assign(gateway, await openGateway(stage, port));
  expect(await me(cookie)).toBe('ada');
  const out = await ask('DELETE', '/session', { ...own(), cookie });
  expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
  expect(await me(cookie)).toBe(401);
});

test.each([
  ['HttpOnly', /; HttpOnly(;|$)/],
  ['SameSite', /; SameSite=Strict(;|$)/],
  ['a life of 30 days', /; Max-Age=2592000(;|$)/],
])('a session cookie has %s', async (_, part) => {
  expect((await signIn({ key: secret })).headers.get('set-cookie')).toMatch(part);
});

test('a session cookie is sent over TLS alone if the page came over TLS', async () => {
  const { host } = new URL(gateway.url);
  const secure = await signIn({ key: secret }, { ...own(), origin: `https://${host}` });
  expect([secure.status, secure.headers.get('set-cookie')]).toEqual([
    200,
    expect.stringMatching(/; Secure(;|$)/),
  ]);
  const plain = await signIn({ key: secret });
  expect(plain.headers.get('set-cookie')).not.toContain('Secure');
});

test('a link signs in once, however many requests use it at the same time', async () => {
  const link = await makeLink();
  const answers = await Promise.all([1, 2, 3].map(() => signIn({ link })));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  const [opened] = answers.filter(({ status }) => status === 200);
  expect(opened && (await me(cookieOf(opened)))).toBe('ada');
  const stored = await stage.store.list('gateway/');
  for (const place of stored) expect(String(await stage.store.read(place))).not.toContain(link.slice(-43));
});

test('invalid credentials sign nobody in, and the reply says what to do', async () => {
  for (const body of [{}, { key: 'sk-tc-x' }, { key: `${secret}x` }, { link: 'x' }, { link: secret }]) {
    const response = await signIn(body);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(/use a key/) as string },
    });
  }
  expect(await me('conductor-session=x')).toBe(401);
});

test('a session holds beside the credential of a proxy', async () => {
  const cookie = cookieOf(await signIn({ key: secret }));
  expect(await me(cookie, { authorization: 'Bearer of-the-proxy' })).toBe('ada');
  expect(await me(cookie, { authorization: 'Bearer of-the-proxy', origin: 'http://evil.example' })).toBe(401);
});

test('a session ends with its key', async () => {
  const cookie = cookieOf(await signIn({ key: secret }));
  await revokeKey(stage.store, 'ada');
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 5_000);
  expect(await me(cookie)).toBe(401);
  jest.restoreAllMocks();
});

test('a session has the rights and the rate of its key', async () => {
  const slow = await gateway.key({ name: 'slow', requestsPerMinute: 1 });
  const cookie = cookieOf(await signIn({ key: slow }));
  expect([await me(cookie), await me(cookie)]).toEqual(['slow', 429]);
  const other = cookieOf(await signIn({ key: secret }));
  expect((await ask('GET', '/metrics', { cookie: other })).status).toBe(401);
  expect((await ask('GET', '/v1/models', { cookie: other })).status).toBe(401);
  expect((await ask('POST', '/api/checkpoints/rollback', { ...own(), cookie: other }, {})).status).toBe(403);
});

test.each<readonly [string, number, () => Record<string, string>]>([
  ['its own page', 400, own],
  ['its own page, in a browser without Fetch Metadata', 400, () => ({ origin: gateway.url })],
  ['another site', 401, () => ({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })],
  [
    'another port of this machine',
    401,
    () => ({ origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }),
  ],
  ['another port, in an old browser', 401, () => ({ origin: 'http://127.0.0.1:1' })],
  ['a sandboxed frame', 401, () => ({ origin: 'null', 'sec-fetch-site': 'cross-site' })],
  ['nobody that it names', 401, () => ({})],
])('a cookie with a POST from %s: %i', async (_, status, headers) => {
  const cookie = cookieOf(await signIn({ key: secret }));
  expect((await ask('POST', '/api/solves', { ...headers(), cookie }, {})).status).toBe(status);
  if (status !== 400) {
    expect((await ask('DELETE', '/session', { ...headers(), cookie })).status).toBe(403);
    expect((await signIn({ key: secret }, headers())).status).toBe(403);
    expect(await me(cookie)).toBe('ada');
  }
});

test('a page of another origin cannot read with a cookie either', async () => {
  const cookie = cookieOf(await signIn({ key: secret }));
  expect(await me(cookie, { 'sec-fetch-site': 'same-site' })).toBe(401);
  expect(await me(cookie, { origin: 'http://127.0.0.1:1' })).toBe(401);
  expect(await me(cookie, { 'sec-fetch-site': 'none' })).toBe('ada');
});

test('browsers cache the files of the page but not its document, which never stands in for other paths', async () => {
  const folder = join(stage.folder, 'web');
  await mkdir(join(folder, 'assets'), { recursive: true });
  const script = `console.log(${JSON.stringify(createHash('sha256').digest('hex'))})`;
  await writeFile(join(folder, 'index.html'), '<!doctype html>');
  await writeFile(join(folder, 'assets', 'a-1.js'), script);
  await writeFile(join(folder, 'assets', 'a-1.js.gz'), gzipSync(script));
  const app = new OpenAPIHono<Env>();
  const answer = openPage(folder);
  app.notFound(async (c) => (await answer(c)) ?? c.text('', 404));
  const get = (path: string, headers = {}): Promise<Response> =>
    Promise.resolve(app.request(path, { headers }));
  const html = { accept: 'text/html,*/*' };

  const asset = await get('/assets/a-1.js', { 'accept-encoding': 'gzip' });
  expect(asset.headers.get('cache-control')).toContain('immutable');
  expect(Buffer.from(await asset.arrayBuffer())).toEqual(gzipSync(script));
  expect(await (await get('/assets/a-1.js')).text()).toBe(script);
  for (const path of ['/', '/solves/gw-1', '/money']) {
    const response = await get(path, html);
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    expect(response.headers.get('content-security-policy')?.split('; ').sort()).toEqual([
      "base-uri 'none'",
      "connect-src 'self'",
      "default-src 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "img-src 'self'",
      "require-trusted-types-for 'script'",
      "script-src 'self'",
      "style-src 'self'",
      "trusted-types 'none'",
    ]);
  }
  for (const path of ['/v1/x', '/api/x', '/assets/gone.js', '/health'])
    expect((await get(path, html)).status).toBe(404);
  expect((await get('/solves')).status).toBe(404);
  expect((await get('/assets/../index.html', html)).status).toBe(200);
});
