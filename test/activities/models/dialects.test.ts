import type { Message } from '../../../src/plan/plan';
import { startSimulatedProviders } from '../../../src/testing';
import { useOnce } from '../../support/use';
import { aRequest, BOTH_WAYS, KEY, NOTHING } from './ask';

const providers = useOnce(() => startSimulatedProviders());

describe.each(BOTH_WAYS)('$name', ({ complete, card }) => {
  test('returns the text and its token usage', async () => {
    const usage = { inputTokens: 100, outputTokens: 50, cachedInputTokens: 30, reasoningTokens: 20 };
    providers.script('sim-1', [{ text: 'Eight.', usage }]);
    expect(await complete(aRequest(card(providers.url)))).toEqual({ ...NOTHING, text: 'Eight.', usage });
  });

  test('merges system messages at the start, merges adjacent messages of one role, and keeps the order', async () => {
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

  test("sends the key in the vendor's own header, and no key if there is none", async () => {
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

  test('recognizes refused, filtered and truncated answers', async () => {
    providers.script('sim-1', [
      { text: '', finish: 'refusal', refusal: 'I would rather not.' },
      { text: '', finish: 'filtered' },
      { text: 'Eight legs, sometimes', finish: 'length' },
    ]);
    const ask = () => complete(aRequest(card(providers.url)));
    // Gemini's SDK drops the message, so the category stands in for it.
    const words = card('').provider === 'google' ? 'SAFETY' : 'I would rather not.';
    expect(await ask()).toMatchObject({ finish: 'refusal', refusal: words });
    expect(await ask()).toMatchObject({ finish: 'refusal', text: '' });
    expect(await ask()).toMatchObject({ finish: 'length', text: 'Eight legs, sometimes', refusal: null });
  });

  test('reads an answer that arrives slowly to its end', async () => {
    providers.answer('sim-1', 'Eight.');
    providers.script('sim-1', [{ fault: 'drip', ms: 50 }]);
    expect(await complete(aRequest(card(providers.url)))).toMatchObject({ text: 'Eight.', finish: 'stop' });
  });

  test.each(['usage-missing', 'usage-zero'] as const)(
    '%s: the answer is accepted, with unknown usage',
    async (fault) => {
      providers.answer('sim-1', 'Eight.');
      providers.script('sim-1', [{ fault }]);
      expect(await complete(aRequest(card(providers.url)))).toMatchObject({ text: 'Eight.', usage: null });
    },
  );

  test('reads an answer of 2 MB in full', async () => {
    providers.script('sim-1', [{ fault: 'huge' }]);
    expect((await complete(aRequest(card(providers.url)))).text).toHaveLength(2 * 1024 * 1024);
  });
});
