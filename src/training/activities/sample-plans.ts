import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { timeLimit, whileHeartbeating } from '../../activities/heartbeat';
import { isErrorLike } from '../../activities/models/http-error';
import type { Message, PlanContext } from '../../plan/plan';
import { parsePlan } from '../../plan/parse';
import { PlanError } from '../../plan/plan-error';
import { conductorMessages } from '../../plan/prompt/conductor';
import type { Store } from '../../store/store';
import { eachInParallel } from '../../store/sweep';
import { keepText, readText } from '../../store/texts';
import type { SamplePlansRequest, SamplePlansResult } from '../contract';
import { samplesKey } from '../keys';
import { type Manifest } from '../manifest';
import type { AskPolicy } from '../policy/ask';
import type { Sample, ServedPolicy } from '../policy/client';
import { asFailure, POLICY_FAILURES } from '../policy/errors';
import { readManifest } from '../policy/serving';
import type { SampledPlan } from '../rollout';
import { keepSamples, type KeptSamples, readSamples } from './batch';
import type { QuestionSets } from './questions';
import { checkpointId } from '../checkpoint-ref';

/** What sampling works with. */
export interface SamplingDependencies {
  readonly store: Store;
  readonly questions: QuestionSets;
  readonly askPolicy: AskPolicy;
}

/**
 * Activity `conductor.train.samplePlans`: has a checkpoint write the plans of one group.
 *
 * What was sampled is kept in the store, token by token, before it is returned, and returned again to the same request. It
 * is the same where checkpoint, prompts, number, seed and temperature are; else what lies there is another group's, and
 * is replaced.
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
  // To learn from, as the night's settings say, since the checkpoint that comes of it will be served so; to be tried, as
  // its own manifest says, since it may be of another training run.
  const isTraining = request.purpose === 'training';
  const settings: PromptSettings = isTraining ? { ...policy, maxSteps: request.maxSteps } : manifest;
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

/** What decides how a policy is asked, the words of the question apart. */
export type PromptSettings = Pick<
  Manifest,
  'prompt' | 'describe' | 'maxSteps' | 'maxPromptTokens' | 'maxOutputTokens'
>;

/** The prompt of each plan. In a first round all are one; in a second each shows an earlier plan and its answer. */
export async function planPrompts(
  store: Store,
  { workers, plans, earlier }: Pick<SamplePlansRequest, 'workers' | 'plans' | 'earlier'>,
  { prompt: style, describe, maxSteps }: PromptSettings,
  question: string,
): Promise<Message[][]> {
  const shared = { style, question, workers, describe, maxSteps, repairs: [], format: 'lists' } as const;
  if (earlier === undefined) return Array<Message[]>(plans).fill(conductorMessages(shared));
  return Promise.all(
    earlier.map(async ({ plan, answer }) =>
      // Where there was no plan there is nothing to review: the question is asked as if for the first time.
      plan === null
        ? conductorMessages(shared)
        : conductorMessages({ ...shared, review: { plan, answer: await readText(store, answer) } }),
    ),
  );
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

/**
 * Each reply has a seed of its own: vLLM draws the second by the seed of the request and 1, and so on. Requests whose
 * seeds lay closer would share their luck.
 */
function requestsFor(
  prompts: readonly (readonly Message[])[],
  first: number,
): { messages: readonly Message[]; places: number[]; seed: number }[] {
  const byPrompt = new Map<string, { messages: readonly Message[]; places: number[] }>();
  for (const [place, messages] of prompts.entries()) {
    const key = JSON.stringify(messages);
    const known = byPrompt.get(key);
    if (known === undefined) byPrompt.set(key, { messages, places: [place] });
    else known.places.push(place);
  }
  let next = first;
  return [...byPrompt.values()].map((request) => {
    const seed = next % SEEDS;
    next += request.places.length;
    return { ...request, seed };
  });
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
