import { createComplete } from '../../../src/activities/models';
import { startSimulatedProviders } from '../../../src/testing';
import { aCard, aRequest, DIALECTS } from './ask';

const complete = createComplete({ fetchSmolLm2: () => Promise.reject(new Error('no weights in this test')) });

test("asks each model in its own provider's protocol", async () => {
  const providers = await startSimulatedProviders();
  for (const { card } of DIALECTS) await complete(aRequest(card(providers.url)));
  expect(providers.log.map(({ protocol }) => protocol)).toEqual([
    'openai-chat',
    'openai-responses',
    'anthropic',
    'google',
  ]);
  await providers.close();
});

test('asks a local model of this process', async () => {
  const local = aCard({ provider: 'local', model: 'smollm2', effort: null });
  await expect(complete(aRequest(local))).rejects.toThrow('no weights in this test');
});
