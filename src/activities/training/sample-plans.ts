import { createHash } from 'node:crypto';
import { Context } from '@temporalio/activity';
import { parsePlan } from '../../plan/parse';
import { PlanError } from '../../plan/plan-error';
import type { PlanContext } from '../../plan/plan';
import type { AskPolicy } from '../../policy/ask-policy';
import { readManifest } from '../../policy/manifests';
import { keepText } from '../../store/texts';
import type { Store } from '../../store/store';
import type { SamplePlansRequest, SamplePlansResult } from '../../training/activities';
import { samplesKey } from '../../training/keys';
import { checkpointId, type Manifest } from '../../training/manifest';
import type { SampledPlan } from '../../training/rollout';
import { whileHeartbeating } from '../heartbeat';
import { timeLimit } from '../time-limit';
import { keepSamples, readSamples, type KeptSamples } from './kept-samples';
import { planPrompts, promptSettings } from './plan-prompts';
import { asPolicyFailure } from './policy-failure';
import type { QuestionSets } from './question-set';
import { samplePrompts, type SamplingTask } from './sample-prompts';

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
