import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { asFailure } from '../../activities';
import { timeLimit, whileHeartbeating } from '../../activities/heartbeat';
import { isErrorLike } from '../../activities/models/http-error';
import type { Message, PlanContext } from '../../plan/plan';
import { parsePlan } from '../../plan/parse';
import { PlanError } from '../../plan/plan-error';
import type { Store } from '../../store/store';
import { eachInParallel } from '../../store/sweep';
import { keepText } from '../../store/texts';
import type { SamplePlansRequest, SamplePlansResult } from '../contract';
import { samplesKey } from '../keys';
import { checkpointId, type Manifest } from '../manifest';
import type { AskPolicy } from '../policy/ask';
import type { Sample, ServedPolicy } from '../policy/client';
import { POLICY_FAILURES } from '../policy/errors';
import { readManifest } from '../policy/serving';
import type { SampledPlan } from '../rollout';
import { keepSamples, type KeptSamples, readSamples } from './batch';
import { planPrompts, promptSettings } from './plan-prompts';
import type { QuestionSets } from './questions';

/** What sampling works with. */
export interface SamplingDependencies {
  readonly store: Store;
  readonly questions: QuestionSets;
  readonly askPolicy: AskPolicy;
}

/**
 * Activity `conductor.train.samplePlans`: has a checkpoint write the plans of one group.
 *
 * What was sampled is kept in the store, token by token, before anybody is told of it, and whoever asks for the same
 * once more is given that. It is the same where checkpoint, prompts, number, seed and temperature are; else what lies
 * there is another group's, and makes room.
 *
 * @throws ApplicationFailure of a type of `POLICY_FAILURES`
 */
export async function samplePlans(
  dependencies: SamplingDependencies,
  request: SamplePlansRequest,
): Promise<SamplePlansResult> {
  const { store, questions } = dependencies;
  const question = await questions.read(request.question);
  const samples = samplesKey(request);
  const { kept, maxSteps } = await asPolicyFailure(request.policy.timeoutMs, () =>
    sampleOnce(dependencies, request, { question: question.question, key: samples }),
  );
  const workers = request.workers.map(({ id }) => id);
  return {
    question: { id: question.id, text: await keepText(store, question.question) },
    samples,
    plans: kept.rollouts.map((rollout, place) => {
      const isReview = (request.earlier?.[place]?.plan ?? null) !== null;
      return readPlan(rollout, { workers, maxSteps, round: isReview ? 1 : 0 });
    }),
  };
}

async function sampleOnce(
  { store, askPolicy }: SamplingDependencies,
  request: SamplePlansRequest,
  { question, key }: { readonly question: string; readonly key: string },
): Promise<{ readonly kept: KeptSamples; readonly maxSteps: number }> {
  const { checkpoint, seed, temperature, policy } = request;
  const manifest = await readManifest(store, checkpoint);
  const settings = promptSettings(request, manifest);
  const { maxSteps, maxPromptTokens, maxOutputTokens: maxTokens } = settings;
  const task: SamplingTask = {
    policy: { ...manifest, maxPromptTokens, servers: [policy.baseUrl] },
    prompts: await planPrompts(store, request, settings, question),
    seed,
    temperature,
    maxTokens,
  };
  const identity = identityOf(task, manifest);
  const earlier = await readSamples(store, key);
  if (earlier?.identity === identity) return { kept: earlier, maxSteps };

  const { cancellationSignal } = Context.current();
  const signal = AbortSignal.any([cancellationSignal, timeLimit(policy.timeoutMs)]);
  const rollouts = await whileHeartbeating(() => samplePrompts(askPolicy, task, signal));
  const kept: KeptSamples = {
    identity,
    checkpoint: checkpointId(checkpoint),
    temperature,
    tokenizerSha256: manifest.tokenizerSha256,
    rollouts: rollouts.map(({ text, promptTokenIds, tokenIds, logprobs, finishReason }) => ({
      text,
      promptTokenIds: [...promptTokenIds],
      completionTokenIds: [...tokenIds],
      sampledLogprobs: [...logprobs],
      finishReason,
    })),
  };
  await keepSamples(store, key, kept);
  return { kept, maxSteps };
}

/** By the weights and not by their name: a checkpoint that was made anew from another batch is another one. */
function identityOf(
  { prompts, seed, temperature, maxTokens }: SamplingTask,
  { weightsSha256, tokenizerSha256 }: Manifest,
): string {
  const identity = [weightsSha256, tokenizerSha256, prompts, seed, temperature, maxTokens];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}

function readPlan(
  { text, completionTokenIds }: KeptSamples['rollouts'][number],
  context: PlanContext,
): SampledPlan {
  const tokens = completionTokenIds.length;
  try {
    return { plan: parsePlan(text, context), problem: null, tokens };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { plan: null, problem: error.message, tokens };
  }
}

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

/**
 * Does work that asks a policy, and gives its errors their failure types, as every activity does; a time-out of its own is
 * a server that is away. A cancellation passes as it is.
 *
 * @param timeoutMs what the signal of the work allows it
 */
async function asPolicyFailure<T>(timeoutMs: number, work: () => Promise<T>): Promise<T> {
  try {
    return await asFailure(work);
  } catch (error) {
    if (!isErrorLike(error) || error.name !== 'TimeoutError') throw error;
    throw ApplicationFailure.retryable(
      `the policy server gave no answer within ${timeoutMs / 1000} s: it may be busy; raise training.policy.timeout, ` +
        'or sample fewer plans at once',
      POLICY_FAILURES.unavailable,
    );
  }
}
