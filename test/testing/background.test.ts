import { useProviders } from './use-providers';

const providers = useProviders({ models: { m: { price: { input: 2, output: 10 } } } });

interface Body {
  readonly id: string;
  readonly status: string;
}

async function ask(path: string, init: RequestInit = {}): Promise<Body> {
  return (await (await fetch(`${providers.url}/v1/responses${path}`, init)).json()) as Body;
}

function create(): Promise<Body> {
  const body = JSON.stringify({ model: 'm', input: 'Four score.', background: true });
  return ask('', { method: 'POST', body });
}

test('a response is billed once, when it is written, however often it is requested', async () => {
  const letGo = providers.hold('m');
  const { id, status } = await create();
  expect(status).toBe('queued');
  expect(providers.log[0]).toMatchObject({ outcome: null, usage: null });
  letGo();
  await providers.waitForRequest(({ outcome }) => outcome === 'answered');
  await ask(`/${id}`);
  await ask(`/${id}`);
  await ask(`/${id}/cancel`, { method: 'POST' });
  expect(providers.log.map(({ path, model, nanoUsd }) => [path, model, (nanoUsd ?? 0) > 0])).toEqual([
    ['/v1/responses', 'm', true],
    [`/v1/responses/${id}`, 'm', false],
    [`/v1/responses/${id}`, 'm', false],
    [`/v1/responses/${id}/cancel`, 'm', false],
  ]);
});

test('a cancelled response is never written, and billed only for its input', async () => {
  providers.script('m', [{ text: 'Never written.', delayMs: 600_000 }]);
  const { id } = await create();
  expect((await ask(`/${id}`)).status).toBe('in_progress');
  expect((await ask(`/${id}/cancel`, { method: 'POST' })).status).toBe('cancelled');
  expect(providers.log[0]).toMatchObject({
    outcome: 'cancelled',
    usage: { inputTokens: 3 },
    nanoUsd: 6000,
  });
});

test('a request that fails starts no response', async () => {
  providers.script('m', [{ fault: 'rate-limited' }]);
  expect(await create()).not.toHaveProperty('id');
  expect(providers.log[0]).toMatchObject({ outcome: 'fault:rate-limited', nanoUsd: 0 });
});
