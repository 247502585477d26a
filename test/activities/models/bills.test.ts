import { closeRow, openRowOf } from '../../../src/activities/ledger-row';
import { judgeReply } from '../../../src/activities/models';
import { completeOpenAI } from '../../../src/activities/models/openai';
import type { Usage } from '../../../src';
import type { Price } from '../../../src/protocol/cards';
import type { LedgerRow } from '../../../src/store/ledger';
import { aCall, aCard, aRequest } from './ask';

// Usage as OpenAI-compatible servers report it, shaped as in their own documentation (page above each), and the cost
// booked for it at $2 per million input tokens, $10 per million output tokens and $0.50 per million cached ones.

const PRICE: Price = { input: 2, output: 10, cachedInput: 0.5 };

afterEach(() => {
  jest.restoreAllMocks();
});

/** Returns the ledger row of a Chat Completions call that got this reply. */
async function booked(reply: object, price: Price | null = PRICE): Promise<LedgerRow> {
  const body = { choices: [{ index: 0, message: { content: 'Eight.' }, finish_reason: 'stop' }], ...reply };
  jest.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json(body));
  const card = aCard({ api: 'chat', baseUrl: 'http://127.0.0.1:9/v1', price, priceVersion: 'card' });
  const request = aRequest(card);
  const call = aCall(card);
  const row = { ...openRowOf(call, 'call', { workflowExecution: undefined }), attempt: 1, startedAt: '' };
  return closeRow(row, call, judgeReply(await completeOpenAI(request), request));
}

/** Returns the counts that every server reports, under their Chat Completions names. */
function counted(prompt: number, completion: number, total: number, more: object = {}): object {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total, ...more };
}

interface Recorded {
  readonly server: string;
  readonly reply: { readonly usage: object; readonly [field: string]: unknown };
  readonly usage: Partial<Usage>;
  readonly nanoUsd: number;
}

const REPLIES: readonly Recorded[] = [
  {
    // developers.openai.com/api/reference/resources/chat
    server: 'OpenAI: reasoning is a part of the completion',
    reply: {
      service_tier: 'default',
      usage: counted(1200, 300, 1500, {
        prompt_tokens_details: { cached_tokens: 1000, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 256, accepted_prediction_tokens: 0 },
      }),
    },
    usage: { inputTokens: 1200, outputTokens: 300, cachedInputTokens: 1000, reasoningTokens: 256 },
    nanoUsd: 200 * 2000 + 1000 * 500 + 300 * 10_000,
  },
  {
    // docs.x.ai/docs/key-information/consumption-and-rate-limits
    server: 'xAI: reasoning stands beside the completion, in the total alone',
    reply: {
      usage: counted(10_120, 1499, 14_428, {
        prompt_tokens_details: { text_tokens: 10_120, image_tokens: 0, cached_tokens: 128 },
        completion_tokens_details: { reasoning_tokens: 2809, audio_tokens: 0 },
      }),
    },
    usage: { inputTokens: 10_120, outputTokens: 4308, cachedInputTokens: 128, reasoningTokens: 2809 },
    nanoUsd: 9992 * 2000 + 128 * 500 + 4308 * 10_000,
  },
  {
    // docs.x.ai/docs/api-reference: 10¹⁰ ticks are a dollar
    server: 'xAI: what it says it charged',
    reply: {
      usage: counted(12, 2, 331, {
        cost_in_usd_ticks: 30_050_000,
        completion_tokens_details: { reasoning_tokens: 317 },
      }),
    },
    usage: { inputTokens: 12, outputTokens: 319, reasoningTokens: 317 },
    nanoUsd: 3_005_000,
  },
  {
    // openrouter.ai/docs/use-cases/usage-accounting
    server: 'OpenRouter: its charge, of which the upstream price is a part',
    reply: {
      provider: 'Upstream',
      usage: counted(1000, 200, 1200, {
        cost: 0.0031,
        is_byok: false,
        cost_details: { upstream_inference_cost: 0.0031 },
      }),
    },
    usage: { inputTokens: 1000, outputTokens: 200 },
    nanoUsd: 3_100_000,
  },
  {
    server: 'OpenRouter, with a key of one’s own: its fee and what the vendor bills',
    reply: {
      usage: counted(1000, 200, 1200, {
        cost: 0.0002,
        is_byok: true,
        cost_details: { upstream_inference_cost: 0.004 },
      }),
    },
    usage: { inputTokens: 1000, outputTokens: 200 },
    nanoUsd: 4_200_000,
  },
  {
    // openrouter.ai/docs/faq: the first requests of a month are free of its fee
    server: 'OpenRouter, with a key of one’s own and no fee',
    reply: {
      usage: counted(1000, 200, 1200, {
        cost: 0,
        is_byok: true,
        cost_details: { upstream_inference_cost: 0.004, upstream_inference_prompt_cost: 0.002 },
      }),
    },
    usage: { inputTokens: 1000, outputTokens: 200 },
    nanoUsd: 4_000_000,
  },
  {
    server: 'OpenRouter, from before it said whose key was used',
    reply: { usage: counted(194, 2, 196, { cost: 0.95, cost_details: { upstream_inference_cost: 19 } }) },
    usage: { inputTokens: 194, outputTokens: 2 },
    nanoUsd: 19_950_000_000,
  },
  {
    // api-docs.deepseek.com/api/create-chat-completion
    server: 'DeepSeek: names of its own for the cache',
    reply: {
      usage: counted(500, 90, 590, {
        prompt_cache_hit_tokens: 384,
        prompt_cache_miss_tokens: 116,
        completion_tokens_details: { reasoning_tokens: 60 },
      }),
    },
    usage: { inputTokens: 500, outputTokens: 90, cachedInputTokens: 384, reasoningTokens: 60 },
    nanoUsd: 116 * 2000 + 384 * 500 + 90 * 10_000,
  },
  {
    // console.groq.com/docs/api-reference and /docs/prompt-caching
    server: 'Groq: times beside the tokens, and a tier that costs as usual',
    reply: {
      service_tier: 'on_demand',
      x_groq: { id: 'req_1' },
      usage: counted(180, 70, 250, {
        queue_time: 0.037,
        total_time: 0.4607,
        prompt_tokens_details: { cached_tokens: 128 },
      }),
    },
    usage: { inputTokens: 180, outputTokens: 70, cachedInputTokens: 128 },
    nanoUsd: 52 * 2000 + 128 * 500 + 70 * 10_000,
  },
  {
    // ai.google.dev/gemini-api/docs/openai, and github.com/router-for-me/CLIProxyAPI/issues/5733
    server: 'Gemini’s OpenAI-compatible API: thoughts are in the total alone',
    reply: { usage: counted(21, 10, 91) },
    usage: { inputTokens: 21, outputTokens: 70 },
    nanoUsd: 21 * 2000 + 70 * 10_000,
  },
  {
    // docs.vllm.ai/en/latest/serving/openai_compatible_server
    server: 'vLLM',
    reply: { prompt_logprobs: null, usage: counted(30, 65, 95, { prompt_tokens_details: null }) },
    usage: { inputTokens: 30, outputTokens: 65 },
    nanoUsd: 30 * 2000 + 65 * 10_000,
  },
  {
    // github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
    server: 'llama.cpp',
    reply: { usage: counted(44, 48, 92), timings: { cache_n: 40, prompt_n: 4, prompt_ms: 30.9 } },
    usage: { inputTokens: 44, outputTokens: 48 },
    nanoUsd: 44 * 2000 + 48 * 10_000,
  },
];

test.each(REPLIES)('$server', async ({ reply, usage, nanoUsd }) => {
  const row = await booked(reply);
  expect(row.usage).toEqual({ cachedInputTokens: 0, reasoningTokens: 0, ...usage });
  expect(row.nanoUsd).toBe(nanoUsd);
  expect(row).not.toHaveProperty('reportedNanoUsd');
});

describe('a charge of less than half the price', () => {
  const usage = { prompt_tokens: 1000, completion_tokens: 200 };

  test('is noted, and the price is booked', async () => {
    const row = await booked({ usage: { ...usage, cost: 0.0002 } });
    expect(row).toMatchObject({ nanoUsd: 4_000_000, reportedNanoUsd: 200_000 });
  });

  test('is booked if there is no price', async () => {
    expect((await booked({ usage: { ...usage, cost: 0.0002 } }, null)).nanoUsd).toBe(200_000);
  });

  test('is a mere fee if the vendor bills the user an unknown amount, and is never booked as the cost', async () => {
    const byok = { ...usage, cost: 0.0002, is_byok: true };
    expect((await booked({ usage: byok })).nanoUsd).toBe(4_000_000);
    expect((await booked({ usage: byok }, null)).nanoUsd).toBeNull();
  });
});

describe('numbers that make no sense', () => {
  const counts = { prompt_tokens: 1000, completion_tokens: 200 };

  test.each<[string, object]>([
    ['a total below the prompt', { total_tokens: 7 }],
    ['a total that is a text', { total_tokens: '99999' }],
    ['a negative total', { total_tokens: -5 }],
    ['a total beyond any model', { total_tokens: 1e308 }],
    ['a negative cost', { cost: -3 }],
    ['a cost beyond any bill', { cost: 1e308 }],
    ['a cost that is a text', { cost: '0.00' }],
    ['a cost of null, which is how JSON writes NaN', { cost: NaN }],
    ['ticks below 0', { cost_in_usd_ticks: -1 }],
    ['details that are none', { cost: null, cost_details: 'none', is_byok: 'yes' }],
    ['endless costs upstream', { cost: 0, is_byok: true, cost_details: { upstream_inference_cost: 1e308 } }],
  ])('%s changes nothing', async (_, nonsense) => {
    const row = await booked({ usage: { ...counts, ...nonsense } });
    expect(row.usage).toMatchObject({ inputTokens: 1000, outputTokens: 200 });
    expect(row.nanoUsd).toBe(4_000_000);
  });

  test.each<[string, unknown]>([
    ['none', undefined],
    ['null', null],
    ['a list', [1, 2]],
    ['texts', { prompt_tokens: '1000', completion_tokens: '200' }],
    ['negative counts', { prompt_tokens: -1000, completion_tokens: 200 }],
    ['counts beyond any model', { prompt_tokens: 1e308, completion_tokens: 200 }],
    ['fractions', { prompt_tokens: 0.5, completion_tokens: 200 }],
    ['zeros', { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }],
  ])('a usage of %s leaves the cost unknown', async (_, usage) => {
    expect(await booked({ usage })).toMatchObject({ usage: null, nanoUsd: null });
  });

  test('reasoning tokens that exceed the output are added to it', async () => {
    const row = await booked({ usage: { ...counts, completion_tokens_details: { reasoning_tokens: 317 } } });
    expect(row.usage).toMatchObject({ outputTokens: 517, reasoningTokens: 317 });
  });
});
