import { startSimulatedProviders } from '../../src/testing';
import type { Protocol, SimulatedProviders } from '../../src/testing';
import { SDK_CLIENTS } from './sdk-clients';

const PROTOCOLS: readonly Protocol[] = ['openai-chat', 'openai-responses', 'anthropic', 'google'];

let providers: SimulatedProviders;
beforeEach(async () => {
  providers = await startSimulatedProviders();
});
afterEach(() => providers.close());

test.each(PROTOCOLS)('%s: replies nobody wants are replies, and billed', async (protocol) => {
  providers.script('model', [
    { fault: 'empty' },
    { fault: 'refusal' },
    { fault: 'filtered' },
    { fault: 'length' },
    { fault: 'length-without-text' },
    { fault: 'huge' },
  ]);
  const texts: number[] = [];
  for (let i = 0; i < 6; i += 1) {
    texts.push((await SDK_CLIENTS[protocol](providers.url)).text?.length ?? 0);
  }
  expect(texts).toEqual([0, 0, 0, 35, 0, 2 * 1024 * 1024]);
  const input = { inputTokens: 4, cachedInputTokens: 0 };
  expect(providers.log.map(({ outcome, usage }) => [outcome, usage])).toEqual([
    ['fault:empty', { ...input, outputTokens: 0, reasoningTokens: 0 }],
    ['fault:refusal', { ...input, outputTokens: 0, reasoningTokens: 0 }],
    ['fault:filtered', { ...input, outputTokens: 0, reasoningTokens: 0 }],
    ['fault:length', { ...input, outputTokens: 9, reasoningTokens: 0 }],
    ['fault:length-without-text', { ...input, outputTokens: 100, reasoningTokens: 100 }],
    ['fault:huge', { ...input, outputTokens: 524_288, reasoningTokens: 0 }],
  ]);
});
