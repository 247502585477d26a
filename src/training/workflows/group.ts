import type { Plan } from '../../plan/plan';
import type { Text } from '../../protocol/text';
import { inWindow, Limits, storeActivities } from '../../workflows/parts';
import * as names from '../names';
import type { CheckpointRef } from '../names';
import { type AskedQuestion, OPEN_QUESTION } from '../../evaluation/definitions';
import type { EvaluationActivities } from '../../evaluation/activities';
import {
  type Attempts,
  gradeAttempts,
  NOT_PLAYED,
  playPlan,
  playPromptedPlan,
  type Ungraded,
} from '../../evaluation/workflows/parts';
import type { GroupInput, RewardSettings } from '../inputs';
import type { SamplePlansResult } from '../activities/sample-plans';
import type { GroupResult, GroupRound } from '../contract';
import { samplingSeed } from '../draw';
import { type GroupPart, Stopwatch } from '../summarize-cycle';
import { outcomesOnly, rewardOf, rewardOfRoot, scoreRounds } from '../rewards';
import type { GroupRecord, Rollout, SampledPlan } from '../records';
import { requireValidInput, samplingActivities, trainingStoreActivities } from './activities';

/**
 * Workflow `conductorTrainGroup`: samples several plans for one question from one policy, carries them out as in a
 * solve, grades and stores them. With two rounds, the policy reviews each first plan with its answer: the reviews form
 * a group of their own, and their rewards are discounted into the first round's (paper section 3.2 and appendix A.1).
 */
export async function conductorTrainGroup(input: GroupInput): Promise<GroupResult> {
  await requireValidInput({ workflow: names.GROUP_WORKFLOW, input });
  const watch = new Stopwatch<GroupPart>();
  const limits = new Limits(input.run.limits);
  const group = { input, limits, watch };
  const { writer } = input;
  const played = writer === 'prompted' ? [await playByPrompt(group)] : await playByPolicy(group, writer);
  const records = recordsOf(input, played);
  const rounds = await watch.time('grading', () => keepRounds(records));
  return {
    draw: input.draw,
    rounds,
    spentNanoUsd: limits.spentAtMost.nanoUsd,
    spans: watch.spans,
    stoppedBy: limits.stoppedBy,
    score: scoreRounds(records).reward,
  };
}

const evaluationActivities = storeActivities<EvaluationActivities>;

interface Group {
  readonly input: GroupInput;
  readonly limits: Limits;
  readonly watch: Stopwatch<GroupPart>;
}

interface RoundResult {
  readonly question: AskedQuestion;
  readonly samples: string | null;
  readonly rollouts: readonly RolloutResult[];
}

type RolloutResult = Omit<Rollout, 'index' | 'reward' | 'baseline'>;

interface Root {
  readonly index: number;
  readonly plan: Plan;
  readonly answer: Text;
}

async function playByPrompt(group: Group): Promise<RoundResult> {
  const { input } = group;
  const question = await evaluationActivities('read the question')[OPEN_QUESTION]({ ref: input.question });
  const attempts = attemptsAt(group, question);
  const rollouts = await play(group, attempts, [...Array(input.plans).keys()], async (root) => {
    return { ...(await playPromptedPlan(attempts, root, input.purpose === 'examples')), tokens: 0, root };
  });
  return { question, samples: null, rollouts };
}

async function playByPolicy(group: Group, checkpoint: CheckpointRef): Promise<readonly RoundResult[]> {
  const { input, watch } = group;
  const playRound = async (roots: readonly Root[] | null): Promise<RoundResult> => {
    const { question, samples, plans } = await watch.time('sampling', () =>
      samplePlansFor(input, checkpoint, roots),
    );
    const attempts = attemptsAt(group, question);
    const rollouts = await play(group, attempts, plans, async (sampled, index) => {
      const { index: root, answer } = roots?.[index] ?? { index, answer: null };
      return { ...(await playSampled(attempts, sampled, root, answer)), ...sampled, root };
    });
    return { question, samples, rollouts };
  };
  const first = await playRound(null);
  const roots = input.recursion.rounds === 2 ? rootsIn(first.rollouts) : [];
  return roots.length === 0 ? [first] : [first, await playRound(roots)];
}

function playSampled(
  attempts: Attempts,
  { plan }: SampledPlan,
  attempt: number,
  reviewed: Text | null,
): Promise<Ungraded> {
  const isRun = plan !== null && plan.steps.length > 0;
  if (isRun) return playPlan(attempts, plan, attempt, reviewed);
  return Promise.resolve({ ...NOT_PLAYED, answer: plan === null ? null : reviewed });
}

async function play<Item>(
  { input, watch }: Group,
  attempts: Attempts,
  items: readonly Item[],
  playOne: (item: Item, index: number) => Promise<Omit<RolloutResult, 'verdict'>>,
): Promise<readonly RolloutResult[]> {
  const played = await watch.time('rollouts', () => inWindow(items, input.window, playOne));
  return watch.time('grading', () => gradeAttempts(attempts, played));
}

function attemptsAt({ input, limits }: Group, question: AskedQuestion): Attempts {
  const { trainRun, purpose, cycle, draw, run, window, verifier, traceparent } = input;
  const id = { trainRun, purpose, cycle, draw, question: question.id };
  return {
    ref: input.question,
    question,
    run,
    limits,
    window,
    verifier,
    traceparent,
    identityOf: (rollout) => names.rolloutIdentity({ ...id, rollout }),
  };
}

/** @param roots earlier plans with their answers, for the replies to review; null in the first round */
export function samplePlansFor(
  input: GroupInput,
  checkpoint: CheckpointRef,
  roots: readonly Root[] | null,
): Promise<SamplePlansResult> {
  const { trainRun, purpose, cycle, draw, question, workers, temperature, policy, run, traceparent } = input;
  const round = roots === null ? 0 : 1;
  const plans = roots?.length ?? input.plans;
  const activities = samplingActivities(`${plans} plans, round ${round + 1}`, policy, run.heartbeatMs);
  return activities[names.SAMPLE_PLANS]({
    trainRun,
    purpose,
    cycle,
    draw,
    round,
    question,
    checkpoint,
    workers,
    plans,
    temperature,
    policy,
    maxSteps: run.limits.steps,
    seed: samplingSeed({ seed: input.seed, purpose, cycle, draw, round }),
    earlier: roots?.map(({ plan, answer }) => ({ plan, answer })),
    traceparent,
  });
}

function rootsIn(rollouts: readonly RolloutResult[]): readonly Root[] {
  return rollouts.flatMap(({ plan, answer, invalidBecause }, index) =>
    plan === null || answer === null || invalidBecause !== null ? [] : [{ index, plan, answer }],
  );
}

function recordsOf(input: GroupInput, rounds: readonly RoundResult[]): readonly GroupRecord[] {
  const { trainRun, purpose, cycle, draw, workers, writer, recursion, reward } = input;
  const rewards = rewardsOf(input, reward, rounds);
  const bare = outcomesOnly(reward);
  const outcomes = bare && rewardsOf(input, bare, rounds);
  const isByVerdict = recursion.baseline === 'verdict';
  return rounds.map(({ question, samples, rollouts }, round) => ({
    trainRun,
    purpose,
    cycle,
    draw,
    round,
    samples,
    question: question.id,
    topic: question.topic,
    workers: workers.map(({ id }) => id),
    checkpoint: names.describePolicy(writer),
    rollouts: rollouts.map((rollout, index) => ({
      ...rollout,
      index,
      reward: rewards[round]?.[index] ?? null,
      ...(outcomes !== null && { outcome: outcomes[round]?.[index] ?? null }),
      baseline: isByVerdict && round > 0 ? rounds[round - 1]?.rollouts[rollout.root]?.verdict : undefined,
    })),
  }));
}

async function keepRounds(records: readonly GroupRecord[]): Promise<readonly GroupRound[]> {
  const kept: GroupRound[] = [];
  for (const record of records) {
    const key = await trainingStoreActivities(`keep round ${record.round + 1}`)[names.KEEP_GROUP](record);
    const { rollouts } = record;
    const baselines = rollouts.map(({ baseline }) => baseline);
    const [rewards, outcomes] = [
      rollouts.map(({ reward }) => reward),
      rollouts.map(({ outcome }) => outcome),
    ];
    kept.push({
      key,
      rewards,
      ...(isGiven(outcomes) && { outcomes }),
      ...(isGiven(baselines) && { baselines }),
    });
  }
  return kept;
}

function isGiven(values: readonly unknown[]): boolean {
  return values.some((value) => value !== undefined);
}

function rewardsOf(
  { recursion }: GroupInput,
  reward: RewardSettings,
  [first, second]: readonly RoundResult[],
): readonly (readonly (number | null)[])[] {
  const own = (round: RoundResult | undefined): readonly (number | null)[] =>
    round?.rollouts.map((rollout) => rewardOf(rollout, reward)) ?? [];
  const later = own(second);
  const roots = own(first).map((earned, index) => {
    const after = later[second?.rollouts.findIndex(({ root }) => root === index) ?? -1];
    return after === undefined ? earned : rewardOfRoot(earned, after, recursion.rootDiscount);
  });
  return [roots, later];
}
