import { SDK_CLIENTS } from './sdk-clients';
import { post, PROTOCOLS, useProviders } from './use-providers';

// 4 input tokens at 2,000 nano-USD, 2 output tokens at 10,000.
const providers = useProviders({
  models: { model: { answer: 'Because.', price: { input: 2, output: 10 } } },
});

const SPOILED = [
  ['empty', 0, 0, 0],
  ['refusal', 0, 0, 0],
  ['filtered', 0, 0, 0],
  ['length', 35, 9, 0],
  ['length-without-text', 0, 100, 100],
  ['huge', 2 * 1024 * 1024, 524_288, 0],
] as const;

test.each(PROTOCOLS)('%s: useless replies are still replies, and billed', async (protocol) => {
  for (const [fault, characters, outputTokens, reasoningTokens] of SPOILED) {
    providers.script('model', [{ fault }]);
    const { text } = await SDK_CLIENTS[protocol](providers.url);
    expect(text?.length ?? 0).toBe(characters);
    const usage = { inputTokens: 4, cachedInputTokens: 0, outputTokens, reasoningTokens };
    expect(providers.log.at(-1)).toMatchObject({ outcome: `fault:${fault}`, usage });
  }
});

const FLAWED = [
  [{ fault: 'drip', ms: 40 }, [4, 2], 28_000],
  [{ fault: 'usage-missing' }, [], 28_000],
  [{ fault: 'usage-zero' }, [0], 28_000],
  [{ fault: 'usage-wrong' }, [12_345, 24_690], 271_590_000],
] as const;

test.each(PROTOCOLS)(
  '%s: its own answer with a flaw is billed, even if it reports no usage',
  async (protocol) => {
    for (const [fault, stated, nanoUsd] of FLAWED) {
      providers.script('model', [fault]);
      const { text, usage } = await SDK_CLIENTS[protocol](providers.url);
      expect(text).toBe('Because.');
      // Input and output tokens, in whatever fields the vendor reports them.
      expect(numbersIn(usage)).toEqual(stated.length === 0 ? [] : expect.arrayContaining([...stated]));
      expect(providers.log.at(-1)).toMatchObject({ outcome: `fault:${fault.fault}`, nanoUsd });
    }
  },
);

/** Returns all numbers in a usage, at any depth. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

test('drip: the body arrives whole, in many pieces', async () => {
  providers.script('model', [{ fault: 'drip', ms: 100 }]);
  const body = JSON.stringify({ model: 'model', input: 'Why?' });
  const response = await post(providers, '/v1/responses', body);
  const pieces: Uint8Array[] = [];
  for await (const piece of response.body ?? []) pieces.push(piece as Uint8Array);
  expect(pieces.length).toBeGreaterThan(1);
  expect(JSON.parse(Buffer.concat(pieces).toString('utf8'))).toMatchObject({ object: 'response' });
});
