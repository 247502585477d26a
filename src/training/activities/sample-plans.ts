import { hash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import type { z } from 'zod';
import { whileHeartbeating, withinLimit } from '../../activities';
import { errorFactsOf } from '../../errors';
import type { Message, Plan, PlanContext } from '../../plan/plan';
import { parsePlan } from '../../plan/parse';
import { PlanError } from '../../plan/plan-error';
import { conductorMessages } from '../../plan/prompt/conductor';
import { eachInParallel, type Store } from '../../store/store';
import { readText } from '../../store/texts';
import { checkpointId, type CheckpointRef, serversOf } from '../names';
import type { TrainableConfig } from '../config/schema';
import type { GroupInput, promptSettingsSchema } from '../inputs';
import { samplesKey } from '../store-keys';
import { askPolicy, PolicyClient, type PolicyQuestion, type ServedPolicy } from '../policy/client';
import { POLICY_FAILURES, PolicyError } from '../policy/errors';
import { requireOwnWeights, withOneOf } from '../policy/one-of-servers';
import { type CheckpointManifest, readCheckpointManifest } from '../policy/serving';
import type { SampledPlan } from '../records';
import { type KeptSample, type KeptSamples, readSamples } from './batch';
import { askPolicyInSpan, whileSampling } from './cycle-spans';
import { keepQuestion, type QuestionSets } from '../../evaluation/activities';
import type { AskedQuestion } from '../../evaluation/definitions';
import { groupBy } from '../../statistics/tally';
import type { AskedWhole } from '../../grading/question';
import type { Text } from '../../protocol/text';
import { writeRecord } from '../../store/records';

export interface SamplePlansRequest extends Omit<
  GroupInput,
  'writer' | 'reward' | 'recursion' | 'run' | 'window'
> {
  readonly checkpoint: CheckpointRef;
  /** 1: each prompt shows an earlier plan and its answer, which the reply accepts or corrects. */
  readonly round: 0 | 1;
  readonly seed: number;
  readonly maxSteps: number;
  /** Only in round 1: one entry per plan. */
  readonly earlier?: readonly { readonly plan: Plan; readonly answer: Text }[];
}

export interface SamplePlansResult {
  readonly question: AskedQuestion;
  readonly samples: string;
  readonly plans: readonly SampledPlan[];
}

interface SamplingDependencies {
  readonly store: Store;
  readonly questions: QuestionSets;
  readonly config: Pick<TrainableConfig, 'conductor'>;
}

/**
 * Activity `conductor.train.samplePlans`: samples the plans of one group from a checkpoint. They are stored first, and
 * returned again to a request with the same weights, prompts, seed, temperature, token limit and thinking.
 */
export async function samplePlans(
  dependencies: SamplingDependencies,
  request: SamplePlansRequest,
): Promise<SamplePlansResult> {
  const { store, questions } = dependencies;
  const question = await questions.read(request.question);
  const { kept, settings } = await sampleOnce(dependencies, request, question);
  const { maxSteps, access, subtasks } = settings;
  const workers = request.workers.map((worker) => worker.id);
  const context = { workers, maxSteps, access, subtasks, round: request.round };
  return {
    question: await keepQuestion(store, question),
    samples: samplesKey(request),
    plans: kept.rollouts.map((rollout) => readPlan(rollout, context)),
  };
}

async function sampleOnce(
  { store, config }: SamplingDependencies,
  request: SamplePlansRequest,
  question: AskedWhole,
): Promise<{ readonly kept: KeptSamples; readonly settings: PromptSettings }> {
  const { checkpoint, purpose, seed, temperature, policy } = request;
  const manifest = await readCheckpointManifest(store, checkpoint);
  // A checkpoint on trial may be another training run's, with other settings.
  const settings: PromptSettings =
    purpose === 'training' ? { ...policy, maxSteps: request.maxSteps } : manifest;
  const { maxPromptTokens, maxOutputTokens: maxTokens, thinking } = settings;
  const { weightsSha256, tokenizerSha256 } = manifest;
  const servers = purpose === 'canary' ? [serverOfUsers(config, manifest)] : serversOf(policy);
  const task = {
    prompts: await planPrompts(store, request, settings, question),
    seed,
    temperature,
    maxTokens,
  };
  // Identified by weights, not by name: a checkpoint that is made again from another batch is another one.
  const sampling = [seed, temperature, maxTokens, ...(thinking === undefined ? [] : [thinking])];
  const asked = [weightsSha256, tokenizerSha256, task.prompts, ...sampling];
  const identity = hash('sha256', JSON.stringify(asked));
  const key = samplesKey(request);
  const earlier = await readSamples(store, key);
  if (earlier?.identity === identity) return { kept: earlier, settings };

  const { cancellationSignal } = Context.current();
  const sampleAt = async (baseUrl: string, signal: AbortSignal): Promise<readonly KeptSample[]> => {
    if (policy.sleepDuringUpdate === true) await new PolicyClient(baseUrl).wake(signal);
    const asked = { ...manifest, maxPromptTokens, thinking, baseUrl };
    const samples = await samplePrompts({ ...task, policy: asked }, signal, askPolicyInSpan);
    // Afterwards, since sampling may have had the server load the checkpoint. A canary judges by all its replies.
    if (purpose !== 'canary') await requireOwnWeights(baseUrl, manifest, signal);
    return samples;
  };
  const sample = (): Promise<readonly KeptSample[]> =>
    withOneOf(servers, request.draw, (server) =>
      withinLimit(policy.timeoutMs, cancellationSignal, (signal) =>
        whileHeartbeating(() => sampleAt(server, signal)),
      ).catch((error: unknown) => {
        if (errorFactsOf(error).code !== 'TimeoutError') throw error;
        const happened = `the policy server ${server} gave no answer within ${policy.timeoutMs / 1000} s`;
        const remedy = 'It may be busy: raise training.policy.timeout, or sample fewer plans at once.';
        throw new PolicyError(POLICY_FAILURES.unavailable, happened, remedy);
      }),
    );
  const rollouts = await whileSampling(request, sample);
  const source = { checkpoint: checkpointId(checkpoint), temperature, tokenizerSha256 };
  const kept: KeptSamples = { identity, ...source, rollouts };
  await writeRecord(store, key, kept);
  return { kept, settings };
}

/** Returns the server of users' questions: the configured address, else that where the checkpoint was published. */
function serverOfUsers(
  { conductor }: Pick<TrainableConfig, 'conductor'>,
  { servers }: CheckpointManifest,
): string {
  return (conductor.provider === 'policy' ? conductor.baseUrl : undefined) ?? servers[0];
}

export type PromptSettings = Readonly<z.infer<typeof promptSettingsSchema>> &
  Pick<CheckpointManifest, 'maxSteps'>;

/** Returns one prompt per plan: equal ones in a first round; in a second, each shows an earlier plan and its answer. */
export async function planPrompts(
  store: Store,
  { workers, plans, earlier }: Pick<SamplePlansRequest, 'workers' | 'plans' | 'earlier'>,
  { prompt: style, ...settings }: PromptSettings,
  { question, conversation }: AskedWhole,
): Promise<Message[][]> {
  const asked = { question, conversation, workers, repairs: [], format: 'lists' } as const;
  const shared = { ...settings, ...asked, style };
  if (earlier === undefined) return Array<Message[]>(plans).fill(conductorMessages(shared));
  return Promise.all(
    earlier.map(async ({ plan, answer }) =>
      conductorMessages({ ...shared, review: { plan, answer: await readText(store, answer) } }),
    ),
  );
}

function readPlan({ text, completionTokenIds }: KeptSample, context: PlanContext): SampledPlan {
  const tokens = completionTokenIds.length;
  try {
    return { plan: parsePlan(text, context), problem: null, tokens };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return { plan: null, problem: error.message, tokens };
  }
}

interface SamplingTask extends Pick<PolicyQuestion, 'temperature' | 'maxTokens'> {
  readonly policy: ServedPolicy;
  readonly prompts: readonly (readonly Message[])[];
  readonly seed: number;
}

const SEEDS = 2 ** 31;

/**
 * Samples one reply per prompt, in their order. Equal prompts, as in a first round, go out as one request.
 * @param ask sends one request
 */
export async function samplePrompts(
  { policy, prompts, seed, ...sampling }: SamplingTask,
  signal: AbortSignal,
  ask = askPolicy,
): Promise<readonly KeptSample[]> {
  const replies = new Map<number, KeptSample>();
  await eachInParallel(requestsFor(prompts, seed), async ({ places, ...drawn }) => {
    const question = { ...drawn, n: places.length, ...sampling };
    const { promptTokenIds, samples } = await ask(policy, question, signal);
    for (const [at, place] of places.entries()) {
      const sample = samples[at];
      if (sample !== undefined) replies.set(place, { ...sample, promptTokenIds });
    }
  });
  return prompts.flatMap((_, place) => replies.get(place) ?? []);
}

/** Spaces out seeds: vLLM draws a request's n-th reply by its seed plus n, so closer ones would share replies. */
function requestsFor(
  prompts: readonly (readonly Message[])[],
  first: number,
): { messages: readonly Message[]; places: readonly number[]; seed: number }[] {
  const byPrompt = groupBy([...prompts.keys()], (place) => JSON.stringify(prompts[place]));
  let next = first;
  return [...byPrompt.values()].map((places) => {
    const seed = next % SEEDS;
    next += places.length;
    return { messages: prompts[places[0] ?? 0] ?? [], places, seed };
  });
}
