import type { AskPolicy } from '../../policy/ask-policy';
import type { Sample } from '../../policy/policy-client';
import type { ServedPolicy } from '../../policy/served-policy';
import type { Message } from '../../protocol/message';
import { eachInParallel } from '../../store/each-in-parallel';

/** Several prompts to one policy, and how their replies are drawn. */
export interface SamplingTask {
  readonly policy: ServedPolicy;
  readonly prompts: readonly (readonly Message[])[];
  readonly seed: number;
  readonly temperature: number;
  readonly maxTokens: number;
}

/** A reply, and the prompt that it is to. */
export interface PromptedSample extends Sample {
  readonly promptTokenIds: readonly number[];
}

/** Seeds stay below it, as every backend takes them. */
const SEEDS = 2 ** 31;

/**
 * One reply to each prompt, in their order. Equal prompts go out as one request for several replies: a first round,
 * where all are equal, is a single request.
 */
export async function samplePrompts(
  ask: AskPolicy,
  { policy, prompts, seed, temperature, maxTokens }: SamplingTask,
  signal: AbortSignal,
): Promise<readonly PromptedSample[]> {
  const replies = new Map<number, PromptedSample>();
  await eachInParallel(requestsFor(prompts, seed), async ({ places, ...drawn }) => {
    const question = { ...drawn, n: places.length, temperature, maxTokens };
    const { promptTokenIds, samples } = await ask(policy, question, signal);
    for (const [at, place] of places.entries()) {
      const sample = samples[at];
      if (sample !== undefined) replies.set(place, { ...sample, promptTokenIds });
    }
  });
  return prompts.flatMap((_, place) => replies.get(place) ?? []);
}

interface PromptPlaces {
  readonly messages: readonly Message[];
  /** Ascending. */
  readonly places: number[];
}

/**
 * Each reply has a seed of its own: vLLM draws the second by the seed of the request and 1, and so on. Requests whose
 * seeds lay closer would share their luck.
 */
function* requestsFor(
  prompts: readonly (readonly Message[])[],
  seed: number,
): Iterable<PromptPlaces & { readonly seed: number }> {
  let next = seed;
  for (const { messages, places } of placesByPrompt(prompts)) {
    yield { messages, places, seed: next % SEEDS };
    next += places.length;
  }
}

function placesByPrompt(prompts: readonly (readonly Message[])[]): Iterable<PromptPlaces> {
  const byPrompt = new Map<string, PromptPlaces>();
  for (const [place, messages] of prompts.entries()) {
    const key = JSON.stringify(messages);
    const known = byPrompt.get(key);
    if (known === undefined) byPrompt.set(key, { messages, places: [place] });
    else known.places.push(place);
  }
  return byPrompt.values();
}
