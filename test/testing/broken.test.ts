import { APIConnectionError } from 'openai';
import type { BrokenFaultKind } from '../../src/testing/faults';
import { SDK_CLIENTS } from './sdk-clients';
import { post, PROTOCOLS, useProviders } from './use-providers';

const providers = useProviders();
const PATH = '/v1/responses';
const BODY = JSON.stringify({ model: 'model', input: 'Why?' });

const codeOf = (error: unknown): string => (error as { cause: { code: string } }).cause.code;

/** The first half of a JSON text, which is not valid JSON. */
const HALF = /^\{"id":"resp_1"[^]*[^}]$/;

test.each<[BrokenFaultKind, string | RegExp, boolean]>([
  ['reset', 'ECONNRESET', false],
  ['cut-mid-body', 'UND_ERR_SOCKET', true],
  ['truncated', HALF, true],
  ['truncated-chunked', HALF, true],
  ['html', '<title>Sign in</title>', false],
  ['html-bad-gateway', '<title>502 Bad Gateway</title>', true],
])('%s: a client without an SDK sees %s; billed: %s', async (fault, seen, isBilled) => {
  providers.script('model', [{ fault }]);
  const asked = post(providers, PATH, BODY).then((response) => response.text());
  expect(await asked.catch(codeOf)).toMatch(seen);
  const usage = isBilled ? { inputTokens: 1 } : null;
  expect(providers.log[0]).toMatchObject({ outcome: `fault:${fault}`, usage });
});

test.each(PROTOCOLS)("%s: the SDK reads a proxy's error page as a 502", async (protocol) => {
  providers.script('model', [{ fault: 'html-bad-gateway' }]);
  await expect(SDK_CLIENTS[protocol](providers.url)).rejects.toMatchObject({ status: 502 });
});

test('stall: the headers arrive, and nothing after them', async () => {
  providers.script('model', [{ fault: 'stall' }]);
  const controller = new AbortController();
  const response = await post(providers, PATH, BODY, controller.signal);
  expect(response.status).toBe(200);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
  expect(providers.log[0]).toMatchObject({ outcome: 'fault:stall', usage: { inputTokens: 1 } });
  const rest = response.text();
  controller.abort();
  await expect(rest).rejects.toThrow(/abort/i);
});

test('the OpenAI SDK reports a reset as a connection error', async () => {
  providers.script('model', [{ fault: 'reset' }]);
  await expect(SDK_CLIENTS['openai-responses'](providers.url)).rejects.toBeInstanceOf(APIConnectionError);
});

test.each(PROTOCOLS)('%s: a hang lasts until the client leaves', async (protocol) => {
  providers.script('model', [{ fault: 'hang' }]);
  const controller = new AbortController();
  const asked = SDK_CLIENTS[protocol](providers.url, controller.signal);
  const request = await providers.waitForRequest(({ model }) => model === 'model');
  expect(request.outcome).toBeNull();
  controller.abort();
  await expect(asked).rejects.toThrow(/abort/i);
  await providers.waitForClose(request.sequence);
  expect(request).toMatchObject({ outcome: 'closed-by-client', respondedAt: null, usage: null });
});
