import { type Failure, failureOf } from '../evaluation/definitions';
import type { Verdict } from '../grading/grade';
import { topologyOf } from '../plan/topology';
import type { CycleFigures, CycleMetrics, CycleTimes, GroupRecord, TopicMetrics } from './records';
import { meanOf } from '../statistics/statistics';
import { sharesOf, sumCounts, tally } from '../statistics/tally';
import { counted } from '../trace/describe';

export function summarizeCycle(groups: readonly GroupRecord[]): CycleFigures {
  const rollouts = groups.flatMap((group) => group.rollouts);
  const plans = rollouts.flatMap(({ plan }) => plan ?? []);
  const rewards = rollouts.flatMap(({ reward }) => reward ?? []);
  const costs = rollouts.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  const rewardMean = mean(rewards);
  const verdicts: Record<Verdict, number> = { correct: 0, wrong: 0, unparseable: 0, ungraded: 0 };
  for (const { verdict } of rollouts) verdicts[verdict] += 1;
  return {
    rewardMean,
    rewardSpread: Math.sqrt(mean(rewards.map((reward) => (reward - rewardMean) ** 2))),
    formatRate: rollouts.length === 0 ? 0 : plans.length / rollouts.length,
    verdicts,
    draws: new Set(groups.map(({ draw }) => draw)).size,
    planLength: mean(plans.map(({ steps }) => steps.length)),
    planEntropy: mean(groups.filter(({ round }) => round === 0).map(entropyIn)),
    workerShares: sharesOf(tally(plans.flatMap(({ steps }) => steps.map(({ worker }) => worker)))),
    topologyShares: sharesOf(tally(plans.flatMap((plan) => topologyOf(plan) ?? []))),
    topics: Object.fromEntries(sumTopics(groups.filter(({ round }) => round === 0).map(topicIn))),
    failureShares: sharesOf(tally(groups.flatMap((group) => failuresIn(group, groups)))),
    workerTokens: mean(rollouts.map(({ usage }) => usage.inputTokens + usage.outputTokens)),
    planTokens: mean(rollouts.map(({ tokens }) => tokens)),
    usd: costs.length === rollouts.length ? mean(costs) / 1e9 : null,
  };
}

/** Classifies a group's failed rollouts, without step outputs and workers' own answers, which are not kept. */
function failuresIn(group: GroupRecord, groups: readonly GroupRecord[]): Failure[] {
  const pool = Object.fromEntries(group.workers.map((worker) => [worker, null]));
  const first = groups.find(({ draw, round }) => draw === group.draw && round < group.round);
  return group.rollouts.flatMap((rollout) => {
    const reviewed = first?.rollouts.filter(({ index }) => index === rollout.root) ?? [];
    const rounds = [...reviewed, rollout].map(({ plan, verdict }) => ({
      plan,
      outputs: [],
      answer: verdict,
    }));
    return failureOf({ rounds, answer: rollout.verdict, pool }) ?? [];
  });
}

/** Returns the entropy of a question's plans: 0 if all are equal. Ignores subtasks, which plans hardly ever share. */
function entropyIn({ rollouts }: GroupRecord): number {
  const plans = rollouts.flatMap(({ plan }) => plan ?? []);
  const drawn = plans.map(({ steps }) => JSON.stringify(steps.map(({ worker, sees }) => [worker, sees])));
  const entropy = Object.values(sharesOf(tally(drawn))).reduce(
    (sum, share) => sum - share * Math.log(share),
    0,
  );
  return Math.max(0, entropy);
}

function topicIn({ topic = '', rollouts }: GroupRecord): [string, TopicMetrics] {
  const plans = rollouts.flatMap(({ plan }) => plan ?? []);
  const shapes = tally(plans.map(({ steps }) => JSON.stringify(steps.map(({ sees }) => sees))));
  const graded = rollouts.filter(({ verdict }) => verdict !== 'ungraded').length;
  const right = rollouts.filter(({ verdict }) => verdict === 'correct').length;
  return [topic, { plans: plans.length, shapes, graded, right }];
}

function mean(numbers: readonly number[]): number {
  return meanOf(numbers) ?? 0;
}

/** Number of cycles that are judged together, since a topic need not occur in each. */
export const COLLAPSE_CYCLES = 5;

const FEWEST_PLANS = 40;
const ONLY_SHAPE = 0.95;
const LEAST_ENTROPY = 0.005;
const GOOD_SHARE = 0.8;

type Figures = Pick<CycleMetrics, 'cycle' | 'topics' | 'update'>;

/** Explains why the policy seems to have stopped exploring before it was good; null if it has not. */
export function findCollapse(cycles: readonly Figures[]): string | null {
  if (cycles.length < COLLAPSE_CYCLES) return null;
  const sums = sumTopics(cycles.flatMap(({ topics }) => Object.entries(topics)));
  const lost = [...sums].filter(([, topic]) => hasOneShape(topic) && !isGood(topic));
  if (lost.length > 0) {
    const told = lost.map(([name, { graded, right }]) => {
      const wrong = Math.round((100 * (graded - right)) / graded);
      return `${name === '' ? 'questions without a topic' : name} (${wrong} % of the answers are wrong)`;
    });
    return `since cycle ${cycles[0]?.cycle} nearly all plans have the same shape, and hardly any other is tried, for ${told.join(', ')}${causeIn(cycles)}`;
  }
  const entropies = cycles.map(({ update }) => update?.entropy ?? Infinity);
  const isAnyBad = [...sums.values()].some((topic) => topic.graded >= FEWEST_PLANS && !isGood(topic));
  if (!isAnyBad || Math.max(...entropies) >= LEAST_ENTROPY) return null;
  return `for ${counted(cycles.length, 'cycle')} the entropy of plans has been below ${LEAST_ENTROPY}: the policy has stopped exploring${causeIn(cycles)}`;
}

/** In standard deviations: about the advantage of a single reply that differs from 17 equal ones. */
const LARGE_ADVANTAGE = 4;

function causeIn(cycles: readonly Figures[]): string {
  const largest = Math.max(...cycles.map(({ update }) => update?.largestAdvantage ?? 0));
  if (largest <= LARGE_ADVANTAGE) return '';
  return (
    `; a reply with an advantage of ±${largest.toFixed(1)} weighed as much as the rest of its group, which can be the ` +
    'cause: set training.reward.scale to batch, or bound it by training.reward.maxAdvantage'
  );
}

function sumTopics(topics: readonly [string, TopicMetrics][]): Map<string, TopicMetrics> {
  const sums = new Map<string, TopicMetrics>();
  for (const [name, topic] of topics) {
    const sum = sums.get(name) ?? { plans: 0, shapes: {}, graded: 0, right: 0 };
    sums.set(name, {
      plans: sum.plans + topic.plans,
      shapes: sumCounts([sum.shapes, topic.shapes]),
      graded: sum.graded + topic.graded,
      right: sum.right + topic.right,
    });
  }
  return sums;
}

const hasOneShape = ({ plans, shapes }: TopicMetrics): boolean =>
  plans >= FEWEST_PLANS && Math.max(...Object.values(shapes)) >= ONLY_SHAPE * plans;

const isGood = ({ graded, right }: TopicMetrics): boolean => right >= GOOD_SHARE * graded;

export type GroupPart = 'sampling' | 'rollouts' | 'grading';
export type CyclePart = GroupPart | 'update' | 'publish';

export interface Span<Part extends string = string> {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}

/** Records when each part of the work was under way, by the workflow's clock; parts may overlap. */
export class Stopwatch<Part extends string> {
  readonly spans: Span<Part>[] = [];

  async time<Result>(part: Part, work: () => Promise<Result>): Promise<Result> {
    const from = Date.now();
    try {
      return await work();
    } finally {
      this.spans.push({ part, from, to: Date.now() });
    }
  }
}

/** Sums up the time per part. Work before `from`, the start of the cycle, was done ahead, in the cycle before. */
export function cycleTimes(spans: readonly Span<CyclePart>[], from: number, to: number): CycleTimes {
  const of = (part: CyclePart): number => covered(spans.filter((span) => span.part === part));
  return {
    sampling: of('sampling'),
    rollouts: of('rollouts'),
    grading: of('grading'),
    update: of('update'),
    publish: of('publish'),
    between: to - from - covered(spans, from),
    whole: to - from,
  };
}

function covered(spans: readonly Span[], since = -Infinity): number {
  const ordered = spans.toSorted((one, other) => one.from - other.from);
  let sum = 0;
  let end = since;
  for (const { from, to } of ordered) {
    sum += Math.max(0, to - Math.max(from, end));
    end = Math.max(end, to);
  }
  return sum;
}
