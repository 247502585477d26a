import type { Message } from '../../plan/plan';
import { PolicyClient, type Sample, type SampleRequest } from './client';
import { POLICY_FAILURES, PolicyError } from './errors';
import type { Manifest } from './serving';

/** How and where a checkpoint is asked. */
export interface ServedPolicy extends Pick<Manifest, 'model' | 'folder' | 'vocabulary' | 'maxPromptTokens'> {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
}

/** Request to a policy. */
export interface PolicyQuestion extends Omit<SampleRequest, 'model' | 'vocabulary' | 'prompt'> {
  readonly messages: readonly Message[];
}

/**
 * Asks a policy, in training and in serving alike. A server that does not know the checkpoint, as after a restart, is
 * made to load it.
 *
 * @throws PolicyError; the signal's reason where it was aborted
 */
export async function askPolicy(
  { baseUrl, model, folder, vocabulary, maxPromptTokens }: ServedPolicy,
  { messages, ...sampling }: PolicyQuestion,
  signal: AbortSignal,
): Promise<{ readonly promptTokenIds: readonly number[]; readonly samples: readonly Sample[] }> {
  const client = new PolicyClient(baseUrl);
  const ask = async () => {
    const prompt = await client.tokenize(model, renderChatml(messages), signal);
    if (prompt.length > maxPromptTokens) {
      throw new PolicyError(
        POLICY_FAILURES.promptTooLong,
        `the prompt for ${model} has ${prompt.length} tokens, and at most ${maxPromptTokens} are allowed`,
        'Ask a shorter question, or train with a higher training.policy.maxPromptTokens.',
      );
    }
    const samples = await client.sample({ ...sampling, model, vocabulary, prompt }, signal);
    return { promptTokenIds: prompt, samples };
  };
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PolicyError) || error.code !== POLICY_FAILURES.unknownModel) throw error;
    await client.load(model, folder, signal);
    return ask();
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
