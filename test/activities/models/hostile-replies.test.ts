import fc from 'fast-check';
import { backgroundOpenAI, judgeReply, toProviderFailure } from '../../../src/activities/models';
import { PolicyClient } from '../../../src/training/policy/client';
import { PolicyError } from '../../../src/training/client';
import { hostileText } from '../../support/hostile-text';
import { type Listening, serve } from '../../support/serve';
import { aRequest, DIALECTS } from './ask';

// Replies of a server that may send anything in any field. What is read from them goes into histories and the ledger,
// which take at most 2 MB, and into sums, which must stay exact.

/** Valid replies of each API, with every field that is read. */
const GOOD: Readonly<Record<string, object>> = {
  'OpenAI Chat Completions': {
    choices: [{ message: { content: 'Eight.', refusal: null }, finish_reason: 'stop' }],
    service_tier: 'flex',
    usage: {
      prompt_tokens: 9,
      completion_tokens: 5,
      cost: 0.1,
      prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
    },
  },
  'OpenAI Responses': {
    id: 'resp_1',
    status: 'completed',
    error: null,
    service_tier: 'flex',
    output: [{ type: 'message', content: [{ type: 'output_text', text: 'Eight.' }] }],
    incomplete_details: { reason: 'max_output_tokens' },
    usage: {
      input_tokens: 9,
      output_tokens: 5,
      cost: 0.1,
      input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      output_tokens_details: { reasoning_tokens: 1 },
    },
  },
  'Anthropic Messages': {
    content: [{ type: 'text', text: 'Eight.' }],
    stop_reason: 'refusal',
    stop_details: { explanation: 'No.' },
    usage: {
      input_tokens: 9,
      output_tokens: 5,
      cache_read_input_tokens: 1,
      cache_creation_input_tokens: 2,
      cache_creation: { ephemeral_1h_input_tokens: 1 },
      output_tokens_details: { thinking_tokens: 1 },
      service_tier: 'batch',
    },
  },
  'Gemini generateContent': {
    candidates: [{ content: { parts: [{ text: 'Eight.' }] }, finishReason: 'STOP' }],
    promptFeedback: { blockReason: null, blockReasonMessage: 'No.' },
    usageMetadata: {
      promptTokenCount: 9,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 1,
      cachedContentTokenCount: 1,
      serviceTier: 'flex',
    },
  },
};

const strange = fc.oneof(
  hostileText(['<title', 'eyJ', '{"', '\\u', '\ud800', '\u001b[2J', '\n', '`', ' ', 'NaN'], 64 * 1024),
  fc.constantFrom<unknown>(null, true, [], {}, '', -1, 0.5, 0, 9_007_199_254_740_991, 1e300, 1e15),
);

/** Generates replies in which some fields hold something else. */
function spoiled(good: unknown): fc.Arbitrary<unknown> {
  const places = placesIn(good);
  const place = fc.constantFrom(...places);
  return fc.array(fc.tuple(place, strange), { minLength: 1, maxLength: 3 }).map((changes) => {
    const reply: unknown = structuredClone(good);
    // A later change may modify a value that an earlier one put there.
    for (const [path, value] of changes) put(reply, path, structuredClone(value));
    return reply;
  });
}

function placesIn(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]];
  const below = Object.entries(value).flatMap(([key, each]) => placesIn(each, [...path, key]));
  return path.length === 0 ? below : [[...path], ...below];
}

function put(root: unknown, path: readonly string[], value: unknown): void {
  let parent = root;
  for (const key of path.slice(0, -1))
    parent = Object(parent) === parent ? Reflect.get(parent as object, key) : null;
  if (Object(parent) === parent) Reflect.set(parent as object, path.at(-1) ?? '', value);
}

let server: Listening;
let said = '';
beforeAll(async () => {
  server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(said);
  });
});
afterAll(() => server.close());

test.each(DIALECTS)(
  '$name: a malformed reply is read or fails, is small except for its text, and has numbers safe for arithmetic',
  (dialect) => {
    const { name, complete, card } = dialect;
    return fc.assert(
      fc.asyncProperty(spoiled(GOOD[name]), async (reply) => {
        said = JSON.stringify(reply);
        const request = aRequest(card(server.url));
        try {
          const { text, ...found } = await complete(request);
          const { usage, reportedNanoUsd } = found;
          expect(typeof text).toBe('string');
          expect(JSON.stringify({ usage, reportedNanoUsd }).length).toBeLessThan(1000);
          for (const count of Object.values({ ...usage, reportedNanoUsd: reportedNanoUsd ?? 0 })) {
            if (typeof count === 'number') expect(count).toBeLessThan(Number.MAX_SAFE_INTEGER / 1000);
          }
          const ended = judgeReply({ text, ...found }, request);
          if (ended.kind === 'failed') expect(ended.failure.message.length).toBeLessThan(1000);
        } catch (error) {
          if (!(error instanceof Error) || 'matcherResult' in error) throw error;
          expect(toProviderFailure(error, request)?.message.length).toBeLessThan(1000);
        }
      }),
      { numRuns: 25 },
    );
  },
);

test('the id of a background response is short enough to be kept', () =>
  fc.assert(
    fc.asyncProperty(spoiled(GOOD['OpenAI Responses']), async (reply) => {
      said = JSON.stringify(reply);
      const [, responses] = DIALECTS;
      if (responses === undefined) throw new Error('it is the second');
      const begun = await backgroundOpenAI.begin(aRequest(responses.card(server.url))).catch(() => null);
      expect(begun?.id.length ?? 0).toBeLessThanOrEqual(1000);
    }),
    { numRuns: 25 },
  ));

test('a malformed reply of a policy server yields samples or a short failure', () => {
  const choice = {
    index: 0,
    text: 'x',
    token_ids: [1],
    logprobs: { token_logprobs: [-1] },
    finish_reason: 'stop',
  };
  const asked = { model: 'm', vocabulary: 10, prompt: [1], n: 1, temperature: 1, maxTokens: 5 };
  const { signal } = new AbortController();
  return fc.assert(
    fc.asyncProperty(
      spoiled({ model: 'm', choices: [{ ...choice, prompt_token_ids: [1] }] }),
      async (reply) => {
        said = JSON.stringify(reply);
        const error: unknown = await new PolicyClient(`${server.url}/v1`).sample(asked, signal).then(
          () => null,
          (failure: unknown) => failure,
        );
        if (error === null) return;
        expect(error).toBeInstanceOf(PolicyError);
        expect((error as Error).message.length).toBeLessThan(1000);
      },
    ),
    { numRuns: 40 },
  );
});
