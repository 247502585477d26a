import { setImmediate } from 'node:timers/promises';
import { createComplete } from '../../../src/activities/models';
import { startSimulatedProviders } from '../../../src/testing';
import { aCard, aRequest, DIALECTS } from './ask';

const complete = createComplete(() => Promise.reject(new Error('no weights in this test')));

test("asks each model in its own provider's protocol", async () => {
  const providers = await startSimulatedProviders();
  for (const { card } of DIALECTS) await complete(aRequest(card(providers.url)));
  const protocols = ['openai-chat', 'openai-responses', 'anthropic', 'google'];
  expect(providers.log.map(({ protocol }) => protocol)).toEqual(protocols);
  await providers.close();
});

describe('requests to local models', () => {
  const local = (signal?: AbortSignal) =>
    aRequest(aCard({ provider: 'local', model: 'smollm2' }), signal && { signal });

  test('are served one at a time, even after a failure', async () => {
    const loading: ((reason: Error) => void)[] = [];
    const ask = createComplete(() => new Promise((_, reject) => loading.push(reject)));
    const [one, two] = [ask(local()), ask(local())];
    await setImmediate();
    expect(loading).toHaveLength(1);
    loading[0]?.(new Error('one'));
    await expect(one).rejects.toThrow('one');
    await setImmediate();
    loading[1]?.(new Error('two'));
    await expect(two).rejects.toThrow('two');
  });

  test('end at once when aborted, before or during their turn', async () => {
    const fetchSmolLm2 = jest.fn(() => new Promise<never>(() => undefined));
    const ask = createComplete(fetchSmolLm2);
    const [one, two] = [new AbortController(), new AbortController()];
    const asked = [ask(local(one.signal)), ask(local(two.signal))];
    two.abort(new Error('waited too long'));
    await expect(asked[1]).rejects.toThrow('waited too long');
    one.abort(new Error('enough'));
    await expect(asked[0]).rejects.toThrow('enough');
    await expect(ask(local(AbortSignal.abort(new Error('early'))))).rejects.toThrow('early');
    expect(fetchSmolLm2).toHaveBeenCalledTimes(1);
  });
});
