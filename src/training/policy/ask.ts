import type { Message } from '../../plan/plan';
import { PolicyClient, type Sample, type SampleRequest, type ServedPolicy } from './client';
import { POLICY_FAILURES, PolicyError } from './errors';

/** Request to a policy. */
export interface PolicyQuestion extends Omit<SampleRequest, 'model' | 'vocabulary' | 'prompt'> {
  readonly messages: readonly Message[];
}

/**
 * Asks a policy, in training and in serving alike.
 *
 * @throws PolicyError; the signal's reason where it was aborted
 */
export type AskPolicy = (
  policy: ServedPolicy,
  question: PolicyQuestion,
  signal: AbortSignal,
) => Promise<{ readonly promptTokenIds: readonly number[]; readonly samples: readonly Sample[] }>;

/** One for a process: it remembers the token ids of the prompts that it sent last. */
export function createAskPolicy(): AskPolicy {
  const prompts = new PromptTokens();
  return (policy, { messages, ...sampling }, signal) => {
    const prompt = renderChatml(messages);
    return onFirstServer(policy.servers, (client) =>
      onceLoaded(policy, client, signal, async () => {
        const promptTokenIds = await prompts.of(prompt, policy, client, signal);
        const { model, vocabulary } = policy;
        const request = { ...sampling, model, vocabulary, prompt: promptTokenIds };
        return { promptTokenIds, samples: await client.sample(request, signal) };
      }),
    );
  };
}

/** Goes on to the next server where one is out of order; what the last one does stands. */
async function onFirstServer<T>(
  [server = '', ...others]: readonly string[],
  ask: (client: PolicyClient) => Promise<T>,
): Promise<T> {
  try {
    return await ask(new PolicyClient(server));
  } catch (error) {
    if (others.length === 0 || !is(error, POLICY_FAILURES.unavailable)) throw error;
    return onFirstServer(others, ask);
  }
}

/** A server that was started anew knows nothing of checkpoints that others had it load. */
async function onceLoaded<T>(
  { model, folder }: ServedPolicy,
  client: PolicyClient,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!is(error, POLICY_FAILURES.unknownModel)) throw error;
    await client.load(model, folder, signal);
    return ask();
  }
}

function is(error: unknown, code: PolicyError['code']): boolean {
  return error instanceof PolicyError && error.code === code;
}

/** How many prompts are remembered: a question is drawn again in later cycles, and its prompt is the same then. */
const REMEMBERED = 256;

/** Token ids of prompts, as the tokenizer of a policy makes them. Remembers the last ones, whichever checkpoint asked. */
class PromptTokens {
  private readonly known = new Map<string, readonly number[]>();

  /** @throws PolicyError `Policy.PromptTooLong` beside those of the client */
  async of(
    prompt: string,
    { tokenizerSha256, model, maxPromptTokens }: ServedPolicy,
    client: PolicyClient,
    signal: AbortSignal,
  ): Promise<readonly number[]> {
    const key = `${tokenizerSha256} ${prompt}`;
    const tokens = this.known.get(key) ?? (await client.tokenize(model, prompt, signal));
    // Used last is kept longest: a map lists its keys in the order they were set.
    this.known.delete(key);
    this.known.set(key, tokens);
    for (const oldest of [...this.known.keys()].slice(0, -REMEMBERED)) this.known.delete(oldest);
    if (tokens.length <= maxPromptTokens) return tokens;
    throw new PolicyError(
      POLICY_FAILURES.promptTooLong,
      `the prompt for ${model} has ${tokens.length} tokens, and at most ${maxPromptTokens} are allowed`,
      'Ask a shorter question, or train with a higher training.policy.maxPromptTokens.',
    );
  }
}

/**
 * Writes a conversation as ChatML, up to where the policy begins its reply.
 *
 * This is the only chat template of the product: what is trained on and what is served is the same text, so no
 * template of a tokenizer or a server ever comes between the two. There is no default system message.
 */
export function renderChatml(messages: readonly Message[]): string {
  const turns = messages.map(({ role, text }) => `<|im_start|>${role}\n${withoutMarkers(text)}<|im_end|>\n`);
  return `${turns.join('')}<|im_start|>assistant\n`;
}

/**
 * A text that a tokenizer reads as nothing but text: what could be a marker, such as `<|im_end|>`, is broken by a
 * space, or the author of a question could write the turns of others too. Half a surrogate pair, which has no UTF-8,
 * becomes U+FFFD.
 */
export function withoutMarkers(text: string): string {
  return text.replace(MARKER_START, '< |').replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** The start of `<|name|>`, as every marker of the ChatML family is written; `a <| b` in a program is left alone. */
const MARKER_START = /<\|(?=[^\s|<>]{1,64}\|>)/g;
