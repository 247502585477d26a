import { checkModels } from '../../../src/cli/setup/check-models';
import { configuredCards } from '../../../src/config/api-keys';
import { parseConfig } from '../../../src/config/load';
import { startSimulatedProviders } from '../../../src/testing';
import { serve } from '../../support/serve';
import { said } from '../command';

const KEY = 'sk-test-0123456789abcdefghij';
const PAID = { state: 'note', text: said('pool check') };

interface Served {
  readonly provider: 'openai' | 'anthropic' | 'google';
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKeyEnv?: string;
}

/** Runs the check with these models as workers. */
async function check(models: readonly Served[], mayAsk = true) {
  process.env.KEY_OF_TEST = KEY;
  const workers = models.map((model, index) => ({ ...model, id: `w${index}` }));
  const { provider, model } = { provider: 'local', model: 'smollm2' } as const;
  const cards = configuredCards(parseConfig({ conductor: { provider, model }, workers }));
  return checkModels(cards, () => mayAsk);
}

test('each server is asked for its models in the dialect of its vendor, at no cost', async () => {
  const providers = await startSimulatedProviders({ models: { alpha: {}, 'beta-20261010': {} } });
  const { url } = providers;
  const found = await check([
    { provider: 'openai', baseUrl: `${url}/v1`, model: 'alpha' },
    { provider: 'openai', baseUrl: `${url}/v1`, model: 'alpah' },
    { provider: 'anthropic', baseUrl: url, model: 'beta' },
    { provider: 'google', baseUrl: url, model: 'gamma' },
  ]);
  expect(found).toEqual([
    { state: 'broken', text: `${url}/v1 does not list "alpah"; near it: alpha` },
    { state: 'fine', text: `${url} has beta` },
    { state: 'broken', text: said('does not list "gamma"; among those that it has: alpha, beta-20261010') },
    PAID,
  ]);
  expect(providers.log).toEqual([]);
  await providers.close();
});

test('an address whose port no HTTP client calls is named once, with what to do', async () => {
  const found = await check([{ provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' }]);
  const text =
    'http://127.0.0.1:9/v1 cannot be called (port 9 of 127.0.0.1 is closed to HTTP clients): ' +
    'Correct its baseUrl, or have its server listen on another port; nothing was sent';
  expect(found).toEqual([{ state: 'broken', text }, PAID]);
});

test.each([
  [401, { error: { message: `Incorrect key: ${KEY}` } }, 'broken', 'the key in KEY_OF_TEST is refused'],
  [403, { error: { message: 'Missing scopes: api.model.read' } }, 'note', 'may not read the list'],
  [403, { error: { message: 'Country not supported' } }, 'broken', 'the key in KEY_OF_TEST is refused'],
  [404, { error: { message: 'no such page' } }, 'note', 'check baseUrl'],
  [503, {}, 'broken', 'answered 503'],
  [200, { data: [{ id: 'other.gguf', owned_by: 'llamacpp' }] }, 'fine', 'names no models'],
])('a server that answers %i %j: %s', async (status, body, state, words) => {
  const server = await serve((request, response) => {
    const isAsked = request.method === 'GET' && request.url === '/v1/models';
    response.writeHead(isAsked && request.headers.authorization === `Bearer ${KEY}` ? status : 418);
    response.end(JSON.stringify(body));
  });
  const place = { provider: 'openai', baseUrl: `${server.url}/v1`, model: 'm' } as const;
  const found = await check([{ ...place, apiKeyEnv: 'KEY_OF_TEST' }]);
  expect(found).toEqual([{ state, text: said(words) }, PAID]);
  expect(JSON.stringify(found)).not.toContain(KEY);
  await server.close();
});

test('an unreachable server is reported; a server not trusted with the key is sent nothing', async () => {
  const asked: string[] = [];
  const server = await serve((request, response) => {
    asked.push(String(request.url));
    response.end('{}');
  });
  const place = { provider: 'openai', model: 'm', apiKeyEnv: 'KEY_OF_TEST' } as const;
  const [untrusted] = await check([{ ...place, baseUrl: `${server.url}/v1` }], false);
  expect(untrusted).toEqual({ state: 'note', text: said('was not asked') });
  await server.close();
  const [absent] = await check([{ ...place, baseUrl: `${server.url}/v1` }]);
  expect(absent).toEqual({ state: 'broken', text: said('could not be reached') });
  expect(asked).toEqual([]);
});
