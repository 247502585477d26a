import { FAILURE_KINDS } from '../evaluation/definitions';
import type { Curve, CurvesPage, Panel } from '../report/curves-chart';
import { dollars, duration, GREY, percent, plain } from '../report/chart';
import type { Table } from '../report/report';
import { sharesOf, sumCounts } from '../statistics/tally';
import type { Verdict } from '../grading/verdict';
import { TOPOLOGIES } from '../plan/topology';
import type { CycleMetrics, TopicMetrics } from './records';

// Charts of a training run, for reports and the gateway's page.

type Cycles = readonly CycleMetrics[];

const VERDICTS: readonly Verdict[] = ['correct', 'wrong', 'unparseable', 'ungraded'];

/** Rewards of the Conductor, and the plans that it writes (paper, figure 3). */
export function learningCurves(cycles: Cycles): CurvesPage {
  const { lines, shares } = panelsOf(cycles);
  const format = lines('Format', 'share of replies that were plans', percent, {
    plans: (of) => of.formatRate,
  });
  return pageOf(cycles, 'learning', 'what was learned', [
    lines('Reward', 'mean and standard deviation of a cycle', plain, {
      training: ({ rewardMean }) => rewardMean,
      'held-out': ({ heldOut }) => heldOut,
      spread: ({ rewardSpread }) => rewardSpread,
    }),
    shares('Verdicts', 'share of all rollouts', ({ verdicts }) => sharesOf(verdicts), VERDICTS),
    { ...format, form: 'shares' },
    lines('Length of plans', 'mean number of steps, of all and by topic', plain, {
      all: ({ planLength }) => planLength,
      ...lengthsByTopic(cycles),
    }),
    lines('Variety of plans', 'entropy of the plans of a question, in nats', plain, {
      entropy: ({ planEntropy }) => planEntropy,
    }),
    shares('Who is asked', 'share of all steps, by worker', ({ workerShares }) => workerShares),
    shares('Shape of plans', 'share of all plans, by topology', (of) => of.topologyShares, TOPOLOGIES),
    shares('Failures', 'share of failed rollouts, by signature', (of) => of.failureShares, FAILURE_KINDS),
  ]);
}

/** Costs of training, and how the updates behaved. */
export function effortCurves(cycles: Cycles): CurvesPage {
  const { lines } = panelsOf(cycles);
  const gaps = 'nats a token: KL and mean difference from the sampler, and the policy’s own move';
  return pageOf(cycles, 'effort', 'what it took', [
    lines('Tokens', 'mean of a rollout', plain, {
      workers: ({ workerTokens }) => workerTokens,
      plan: ({ planTokens }) => planTokens,
    }),
    lines('Cost', 'USD, mean of a rollout', dollars, { workers: ({ usd }) => usd }),
    lines('Clipped', 'share of tokens whose ratio or importance weight was limited', percent, {
      ratio: ({ update }) => update?.clipShare,
      weight: ({ update }) => update?.weightLimited,
    }),
    lines('Gaps', gaps, plain, {
      KL: ({ update }) => update?.kl,
      sampler: ({ update }) => update?.samplerGap,
      policy: ({ update }) => update?.policyGap,
    }),
    lines('Entropy', 'nats a token', plain, { entropy: ({ update }) => update?.entropy }),
    lines(
      'Time',
      'of a cycle and its parts',
      duration,
      Object.fromEntries(PARTS.map((part): [string, Quantity] => [part, ({ times }) => times[part]])),
    ),
  ]);
}

const PARTS = ['whole', 'rollouts', 'sampling', 'update', 'publish', 'grading', 'between'] as const;

/** Returns curves for as many topics as a reader can tell apart; none if there is only one topic. */
function lengthsByTopic(cycles: Cycles): Readonly<Record<string, Quantity>> {
  const topics = [...new Set(cycles.flatMap(({ topics }) => Object.keys(topics)))].sort();
  if (topics.length < 2) return {};
  const quantities = topics
    .slice(0, MOST_SHARES - 1)
    .map((name): [string, Quantity] => [
      name === '' ? 'none named' : name,
      ({ topics: { [name]: topic } }) => topic && lengthIn(topic),
    ]);
  return Object.fromEntries(quantities);
}

/** Mean number of steps; a shape is a JSON list with one entry per step. */
function lengthIn({ plans, shapes }: TopicMetrics): number | null {
  const lengthOf = (shape: string): number => (JSON.parse(shape) as readonly unknown[]).length;
  const steps = Object.entries(shapes).reduce((sum, [shape, count]) => sum + count * lengthOf(shape), 0);
  return plans === 0 ? null : steps / plans;
}

type Quantity = (cycle: CycleMetrics) => number | null | undefined;
type Shares = Readonly<Record<string, number>>;

/** Returns builders of panels from the cycles' metrics. */
function panelsOf(cycles: Cycles) {
  const lines = (
    title: string,
    note: string,
    format: Panel['format'],
    quantities: Readonly<Record<string, Quantity>>,
  ): Panel => {
    const curves = Object.entries(quantities).map(([name, valueOf]) => ({
      name,
      values: cycles.map((cycle) => valueOf(cycle) ?? null),
    }));
    return { title, note, form: 'lines', curves, format };
  };
  const shares = (
    title: string,
    note: string,
    of: (cycle: CycleMetrics) => Shares,
    order?: readonly string[],
  ): Panel => ({ title, note, form: 'shares', curves: shareCurves(cycles.map(of), order), format: percent });
  return { lines, shares };
}

function pageOf(cycles: Cycles, file: string, title: string, panels: readonly Panel[]): CurvesPage {
  const numbers = cycles.map(({ cycle }) => cycle);
  const nights = [...new Set(cycles.map(({ night }) => night))];
  const starts = cycles.filter(({ night }, index) => index > 0 && night !== cycles[index - 1]?.night);
  return {
    file,
    title: `Training run ${cycles[0]?.trainRun ?? ''}: ${title}`,
    subtitle: [
      numbers.length === 1 ? `cycle ${numbers[0]}` : `cycles ${numbers[0]}–${numbers.at(-1)}`,
      nights.length === 1
        ? `night of ${nights[0]}`
        : `nights ${nights[0]} to ${nights.at(-1)} (dotted: where one begins)`,
    ].join(' · '),
    cycles: numbers,
    nightStarts: starts.map(({ cycle }) => cycle),
    panels,
  };
}

/** Number of shares that a reader can tell apart. */
const MOST_SHARES = 6;

/** Curves of shares: names in `order` first, then the others by their total, largest first. */
export function shareCurves(shares: readonly Shares[], order: readonly string[] = []): Curve[] {
  const totals = Object.entries(sumCounts(shares)).filter(([, total]) => total > 0);
  const rankOf = (name: string): number => (order.includes(name) ? order.indexOf(name) : order.length);
  const names = totals
    .toSorted(([one, total], [other, more]) => rankOf(one) - rankOf(other) || more - total)
    .map(([name]) => name);
  const shown = names.length > MOST_SHARES ? names.slice(0, MOST_SHARES - 1) : names;
  const rest = names.slice(shown.length);
  const curveOf = (name: string, parts = [name]): Curve => ({
    name,
    values: shares.map((share) => parts.reduce((sum, part) => sum + (share[part] ?? 0), 0)),
  });
  const curves = shown.map((name) => curveOf(name));
  return rest.length === 0 ? curves : [...curves, { ...curveOf('others', rest), colour: GREY }];
}

/** Returns all curves as numbers, for readers who cannot see the charts. */
export function tableOf(pages: readonly CurvesPage[]): Table {
  const rows = pages.flatMap(({ panels }) =>
    panels.flatMap(({ title, curves, format }) =>
      curves.flatMap(({ name, values }) => {
        const known = values.filter((value) => value !== null);
        const [first, last] = [known[0], known.at(-1)];
        if (first === undefined || last === undefined) return [];
        return [[`${title}: ${name}`, ...[first, last, Math.min(...known), Math.max(...known)].map(format)]];
      }),
    ),
  );
  return { rows: [['figure', 'first', 'last', 'lowest', 'highest'], ...rows], numeric: true };
}
