import { APIConnectionError } from 'openai';
import { startSimulatedProviders } from '../../src/testing';
import type { SimulatedProviders } from '../../src/testing';
import type { BrokenFaultKind } from '../../src/testing/faults';
import { SDK_CLIENTS } from './sdk-clients';

let providers: SimulatedProviders;
beforeEach(async () => {
  providers = await startSimulatedProviders();
});
afterEach(() => providers.close());

/** Fetches without an SDK: the response as far as it comes, or the code of the fault below. */
async function fetchFaulty(fault: BrokenFaultKind): Promise<[type: string | null, body: string]> {
  providers.script('model', [{ fault }]);
  const body = JSON.stringify({ model: 'model', input: 'Why?' });
  const response = await fetch(`${providers.url}/v1/responses`, { method: 'POST', body });
  return [response.headers.get('content-type'), await response.text()];
}

test('reset: no header comes', async () => {
  await expect(fetchFaulty('reset')).rejects.toMatchObject({ cause: { code: 'ECONNRESET' } });
  expect(providers.log[0]).toMatchObject({ outcome: 'fault:reset', usage: null });
});

test('cut-mid-body: headers come, the body breaks off', async () => {
  providers.script('model', [{ fault: 'cut-mid-body' }]);
  const body = JSON.stringify({ model: 'model', input: 'Why?' });
  const response = await fetch(`${providers.url}/v1/responses`, { method: 'POST', body });
  expect(response.status).toBe(200);
  await expect(response.text()).rejects.toMatchObject({ cause: { code: 'UND_ERR_SOCKET' } });
});

test.each(['truncated', 'truncated-chunked'] as const)(
  '%s: half of the JSON in a whole body',
  async (fault) => {
    const [type, body] = await fetchFaulty(fault);
    expect(type).toBe('application/json');
    expect(body).toMatch(/^\{"id":"resp_1"/);
    expect(() => JSON.parse(body) as unknown).toThrow(SyntaxError);
  },
);

test('an answer that is lost on the way is billed', async () => {
  for (const fault of ['cut-mid-body', 'truncated', 'truncated-chunked', 'html-bad-gateway'] as const) {
    await fetchFaulty(fault).catch(() => undefined);
    expect(providers.log.at(-1)).toMatchObject({ outcome: `fault:${fault}`, usage: { inputTokens: 1 } });
  }
});

test.each([
  ['html', '<title>Sign in</title>'],
  ['html-bad-gateway', '<title>502 Bad Gateway</title>'],
] as const)('%s: a page where JSON was due', async (fault, title) => {
  const [type, page] = await fetchFaulty(fault);
  expect(type).toContain('text/html');
  expect(page).toContain(title);
});

test.each(['openai-chat', 'openai-responses', 'anthropic', 'google'] as const)(
  '%s: the page of a proxy is a 502 to the SDK',
  async (protocol) => {
    providers.script('model', [{ fault: 'html-bad-gateway' }]);
    await expect(SDK_CLIENTS[protocol](providers.url)).rejects.toMatchObject({ status: 502 });
  },
);

test('stall: headers come, and nothing after them', async () => {
  providers.script('model', [{ fault: 'stall' }]);
  const controller = new AbortController();
  const body = JSON.stringify({ model: 'model', input: 'Why?' });
  const { signal } = controller;
  const response = await fetch(`${providers.url}/v1/responses`, { method: 'POST', body, signal });
  expect(response.status).toBe(200);
  expect(Number(response.headers.get('content-length'))).toBeGreaterThan(0);
  expect(providers.log[0]).toMatchObject({ outcome: 'fault:stall', usage: { inputTokens: 1 } });
  const rest = response.text();
  controller.abort();
  await expect(rest).rejects.toThrow(/abort/i);
});

test('a broken connection is what the SDKs call one', async () => {
  providers.script('model', [{ fault: 'reset' }]);
  await expect(SDK_CLIENTS['openai-responses'](providers.url)).rejects.toBeInstanceOf(APIConnectionError);
});

test.each(['openai-chat', 'openai-responses', 'anthropic', 'google'] as const)(
  '%s: a hang lasts until the client leaves',
  async (protocol) => {
    providers.script('model', [{ fault: 'hang' }]);
    const controller = new AbortController();
    const asked = SDK_CLIENTS[protocol](providers.url, controller.signal);
    const request = await providers.waitForRequest(({ model }) => model === 'model');
    expect(request.outcome).toBeNull();
    controller.abort();
    await expect(asked).rejects.toThrow(/abort/i);
    await providers.waitForClose(request.sequence);
    expect(request).toMatchObject({ outcome: 'closed-by-client', respondedAt: null, usage: null });
  },
);
