import type { Message } from '../protocol/message';
import { POLICY_FAILURES } from '../training/policy-failures';
import { renderChatml } from './chatml';
import { PolicyClient, type Sample, type SampleRequest } from './policy-client';
import { PolicyError } from './policy-error';
import { PromptTokens } from './prompt-tokens';
import type { ServedPolicy } from './served-policy';

/** What a policy is asked. */
export interface PolicyQuestion extends Omit<SampleRequest, 'model' | 'vocabulary' | 'prompt'> {
  readonly messages: readonly Message[];
}

export interface PolicyAnswer {
  readonly promptTokenIds: readonly number[];
  readonly samples: readonly Sample[];
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
) => Promise<PolicyAnswer>;

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
  { model, path }: ServedPolicy,
  client: PolicyClient,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!is(error, POLICY_FAILURES.unknownModel)) throw error;
    await client.load(model, path, signal);
    return ask();
  }
}

function is(error: unknown, type: PolicyError['type']): boolean {
  return error instanceof PolicyError && error.type === type;
}
