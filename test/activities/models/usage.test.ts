import { completeAnthropic } from '../../../src/activities/models/anthropic';
import { completeGoogle } from '../../../src/activities/models/google';
import type { Complete } from '../../../src/activities/models';
import { completeOpenAI } from '../../../src/activities/models/openai';
import type { Usage } from '../../../src';
import type { ModelCard } from '../../../src/protocol/cards';
import { aCard, aRequest } from './ask';

afterEach(() => {
  jest.restoreAllMocks();
});

async function usageIn(body: object, complete: Complete, card: Partial<ModelCard>): Promise<Usage | null> {
  jest.spyOn(globalThis, 'fetch').mockImplementation(() => Promise.resolve(Response.json(body)));
  return (await complete(aRequest(aCard({ ...card, baseUrl: 'http://127.0.0.1:9' })))).usage;
}

// Usage records as the vendors' references describe them, with a different number for each part:
// developers.openai.com/api/reference, platform.claude.com/docs/en/api/messages, ai.google.dev/api/generate-content.
const [read, reasoned] = [{ cached_tokens: 400, cache_write_tokens: 50 }, { reasoning_tokens: 200 }];
const CHAT = {
  choices: [{ message: { role: 'assistant', content: 'Eight.' }, finish_reason: 'stop' }],
  usage: {
    prompt_tokens: 1000,
    prompt_tokens_details: read,
    completion_tokens: 300,
    completion_tokens_details: reasoned,
  },
};
const RESPONSE = {
  output: [{ type: 'message', content: [{ type: 'output_text', text: 'Eight.' }] }],
  usage: {
    input_tokens: 1000,
    input_tokens_details: read,
    output_tokens: 300,
    output_tokens_details: reasoned,
  },
};
const COUNTED = {
  inputTokens: 1000,
  outputTokens: 300,
  cachedInputTokens: 400,
  reasoningTokens: 200,
  cacheWriteTokens: 50,
};

test.each([
  ['chat', CHAT],
  ['responses', RESPONSE],
] as const)(
  'OpenAI, %s: tokens read from and written to the cache are part of the prompt, and the tier is recorded',
  async (api, body) => {
    const usage = await usageIn({ ...body, service_tier: 'flex' }, completeOpenAI, { api });
    expect(usage).toEqual({ ...COUNTED, serviceTier: 'flex' });
  },
);

test('Messages: cached tokens are reported beside the input, and count as input here', async () => {
  const body = {
    content: [{ type: 'text', text: 'Eight.' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 100,
      cache_read_input_tokens: 5000,
      cache_creation_input_tokens: 3000,
      cache_creation: { ephemeral_5m_input_tokens: 1000, ephemeral_1h_input_tokens: 2000 },
      output_tokens: 300,
      output_tokens_details: { thinking_tokens: 120 },
      service_tier: 'batch',
    },
  };
  expect(await usageIn(body, completeAnthropic, { provider: 'anthropic' })).toEqual({
    inputTokens: 8100,
    outputTokens: 300,
    cachedInputTokens: 5000,
    reasoningTokens: 120,
    cacheWriteTokens: 3000,
    hourCacheWriteTokens: 2000,
    serviceTier: 'batch',
  });
});

test('generateContent: thoughts are reported beside the answer, and count as output', async () => {
  const body = {
    candidates: [{ content: { parts: [{ text: 'Eight.' }] }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: 1000,
      cachedContentTokenCount: 400,
      candidatesTokenCount: 100,
      thoughtsTokenCount: 500,
      totalTokenCount: 1600,
      serviceTier: 'FLEX',
    },
  };
  expect(await usageIn(body, completeGoogle, { provider: 'google' })).toEqual({
    inputTokens: 1000,
    outputTokens: 600,
    cachedInputTokens: 400,
    reasoningTokens: 500,
    serviceTier: 'flex',
  });
});

test.each(['default', 'standard', 'on_demand', 'auto', '', null, 7, undefined])(
  'a request in the usual tier (%p) records no tier',
  async (tier) => {
    expect(await usageIn({ ...CHAT, service_tier: tier }, completeOpenAI, { api: 'chat' })).toEqual(COUNTED);
  },
);
