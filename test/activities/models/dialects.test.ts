import type { Message } from '../../../src/plan/plan';
import { startSimulatedProviders, type SimulatedProviders } from '../../../src/testing';
import { aRequest, BOTH_WAYS, KEY, NOTHING } from './ask';

let providers: SimulatedProviders;
beforeAll(async () => {
  providers = await startSimulatedProviders();
});
afterAll(() => providers.close());

describe.each(BOTH_WAYS)('$name', ({ complete, card }) => {
  test('gives the text and what it cost in tokens', async () => {
    const usage = { inputTokens: 100, outputTokens: 50, cachedInputTokens: 30, reasoningTokens: 20 };
    providers.script('sim-1', [{ text: 'Eight.', usage }]);
    expect(await complete(aRequest(card(providers.url)))).toEqual({ ...NOTHING, text: 'Eight.', usage });
  });

  test('puts each message in its place', async () => {
    let messages: unknown;
    providers.answer('sim-1', (request) => {
      messages = request.messages;
      return 'Five.';
    });
    const asked: readonly Message[] = [
      { role: 'system', text: 'Be brief.' },
      { role: 'user', text: 'One.' },
      { role: 'user', text: 'Two.' },
      { role: 'assistant', text: 'Three.' },
      { role: 'user', text: 'Four.' },
      { role: 'system', text: 'Be right.' },
    ];
    await complete(aRequest(card(providers.url), { messages: asked }));
    expect(messages).toEqual([
      { role: 'system', text: 'Be brief.\n\nBe right.' },
      { role: 'user', text: 'One.\n\nTwo.' },
      { role: 'assistant', text: 'Three.' },
      { role: 'user', text: 'Four.' },
    ]);
  });

  test('sends the key where the vendor looks for it, and none where there is none', async () => {
    const headers = () => {
      const { authorization, 'x-goog-api-key': google } = providers.log.at(-1)?.headers ?? {};
      return { authorization, google };
    };
    await complete(aRequest(card(providers.url)));
    expect([headers().authorization, headers().google]).toContain(
      card('').provider === 'google' ? KEY : `Bearer ${KEY}`,
    );
    await complete(aRequest(card(providers.url), { apiKey: null }));
    expect(headers().authorization).toBeUndefined();
    expect(headers().google).not.toBe(KEY);
  });

  test('asks for no more output than the model can give', async () => {
    const wide = card(providers.url);
    const narrow = { ...wide, capabilities: { ...wide.capabilities, maxOutputTokens: 64 } };
    await complete(aRequest(narrow, { maxOutputTokens: 1000 }));
    expect(providers.log.at(-1)?.body).toMatch(/"max_?(output_?)?tokens":64\b/i);
  });

  test('tells a refusal and a cut answer from an answer', async () => {
    providers.script('sim-1', [
      { text: '', finish: 'refusal', refusal: 'I would rather not.' },
      { text: '', finish: 'filtered' },
      { text: 'Eight legs, sometimes', finish: 'length' },
    ]);
    const ask = () => complete(aRequest(card(providers.url)));
    // Gemini's SDK leaves the words out; the category stands for them.
    const words = card('').provider === 'google' ? 'SAFETY' : 'I would rather not.';
    expect(await ask()).toMatchObject({ finish: 'refusal', refusal: words });
    expect(await ask()).toMatchObject({ finish: 'refusal', text: '' });
    expect(await ask()).toMatchObject({ finish: 'length', text: 'Eight legs, sometimes', refusal: null });
  });

  test('takes an answer that trickles in whole', async () => {
    providers.answer('sim-1', 'Eight.');
    providers.script('sim-1', [{ fault: 'drip', ms: 50 }]);
    expect(await complete(aRequest(card(providers.url)))).toMatchObject({ text: 'Eight.', finish: 'stop' });
  });

  test.each(['usage-missing', 'usage-zero'] as const)(
    '%s: the answer counts, and its tokens are unknown',
    async (fault) => {
      providers.answer('sim-1', 'Eight.');
      providers.script('sim-1', [{ fault }]);
      expect(await complete(aRequest(card(providers.url)))).toMatchObject({ text: 'Eight.', usage: null });
    },
  );

  test('takes an answer of 2 MB whole', async () => {
    providers.script('sim-1', [{ fault: 'huge' }]);
    expect((await complete(aRequest(card(providers.url)))).text).toHaveLength(2 * 1024 * 1024);
  });
});
