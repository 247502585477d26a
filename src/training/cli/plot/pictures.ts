import type { CycleMetrics, CycleTimes } from '../../progress';
import { TOPOLOGIES } from '../../summarize-cycle';
import {
  type Curve,
  dollars,
  duration,
  GREY,
  hueOf,
  MEANING,
  type Panel,
  percent,
  type Picture,
  plain,
} from './panel';
import type { Verdict } from '../../../grading/grade';

/** What the Conductor has learned: its rewards, and what kind of plans it writes (paper, figure 3). */
export function learningPicture(cycles: readonly CycleMetrics[]): Picture {
  return pictureOf(cycles, {
    file: 'learning',
    title: 'what was learned',
    panels: [
      rewardPanel(cycles),
      verdictPanel(cycles),
      linePanel({
        title: 'Format',
        note: 'share of replies that were plans',
        name: 'plans',
        values: cycles.map((cycle) => cycle.formatRate),
        top: 1,
        format: percent,
      }),
      linePanel({
        title: 'Length of plans',
        note: 'mean number of steps',
        name: 'steps',
        values: cycles.map((cycle) => cycle.planLength),
        format: plain,
      }),
      sharesPanel(
        'Who is asked',
        'share of all steps, by worker',
        shareCurves(cycles.map(({ workerShares }) => workerShares)),
      ),
      sharesPanel(
        'Shape of plans',
        'share of all plans, by topology',
        shareCurves(
          cycles.map(({ topologyShares }) => topologyShares),
          TOPOLOGIES,
        ),
      ),
    ],
  });
}

function rewardPanel(cycles: readonly CycleMetrics[]): Panel {
  const heldOut = cycles.map((cycle) => cycle.heldOut);
  return {
    title: 'Reward',
    note: 'mean of a cycle, and one standard deviation to either side',
    form: 'lines',
    curves: [{ name: 'training', colour: MEANING.main, values: cycles.map((cycle) => cycle.rewardMean) }],
    spread: cycles.map((cycle) => cycle.rewardSpread),
    points: heldOut.some((value) => value !== null)
      ? { name: 'held-out', colour: MEANING.second, values: heldOut }
      : undefined,
    format: plain,
  };
}

const VERDICT_COLOURS: readonly (readonly [Verdict, string])[] = [
  ['correct', MEANING.good],
  ['wrong', MEANING.main],
  ['unparseable', MEANING.bad],
  ['ungraded', MEANING.idle],
];

function verdictPanel(cycles: readonly CycleMetrics[]): Panel {
  const curves: Curve[] = VERDICT_COLOURS.map(([verdict, colour]) => ({
    name: verdict,
    colour,
    values: cycles.map(({ verdicts }) => verdicts[verdict] / Math.max(1, sum(Object.values(verdicts)))),
  }));
  const shown = curves.filter(({ values }) => values.some((value) => value !== 0));
  return sharesPanel('Verdicts', 'share of all rollouts', shown);
}

/** A single quantity as a line. */
function linePanel({
  name,
  values,
  ...panel
}: Pick<Panel, 'title' | 'note' | 'top' | 'format'> & Omit<Curve, 'colour'>): Panel {
  return { ...panel, form: 'lines', curves: [{ name, colour: MEANING.main, values }] };
}

/** Shares that fill the panel. */
function sharesPanel(title: string, note: string, curves: readonly Curve[]): Panel {
  return { title, note, form: 'shares', curves, top: 1, format: percent };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** What training took, and how the updates behaved. */
export function effortPicture(cycles: readonly CycleMetrics[]): Picture {
  const updates = cycles.map(({ update }) => update);
  return pictureOf(cycles, {
    file: 'effort',
    title: 'what it took',
    panels: [
      {
        title: 'Tokens',
        note: 'mean of a rollout',
        form: 'lines',
        curves: [
          { name: 'workers', colour: hueOf(0), values: cycles.map((cycle) => cycle.workerTokens) },
          { name: 'plan', colour: hueOf(1), values: cycles.map((cycle) => cycle.planTokens) },
        ],
        format: plain,
      },
      linePanel({
        title: 'Cost',
        note: 'USD, mean of a rollout',
        name: 'workers',
        values: cycles.map((cycle) => cycle.usd),
        format: dollars,
      }),
      linePanel({
        title: 'Clipped',
        note: 'share of tokens whose ratio was clipped',
        name: 'clipped',
        values: updates.map((update) => update?.clipShare ?? null),
        format: percent,
      }),
      linePanel({
        title: 'KL divergence',
        note: 'nats a token, from the sampling to the trained policy',
        name: 'KL',
        values: updates.map((update) => update?.kl ?? null),
        format: plain,
      }),
      linePanel({
        title: 'Entropy',
        note: 'nats a token',
        name: 'entropy',
        values: updates.map((update) => update?.entropy ?? null),
        format: plain,
      }),
      timesPanel(cycles),
    ],
  });
}

const PARTS: readonly (keyof CycleTimes)[] = [
  'whole',
  'rollouts',
  'sampling',
  'update',
  'publish',
  'grading',
  'between',
];

function timesPanel(cycles: readonly CycleMetrics[]): Panel {
  const curves: Curve[] = PARTS.map((part, index) => ({
    name: part,
    colour: part === 'whole' ? MEANING.idle : hueOf(index - 1),
    values: cycles.map(({ times }) => times[part]),
  }));
  return { title: 'Time', note: 'of a cycle and its parts', form: 'lines', curves, format: duration };
}

/** A picture of these cycles, headed by what they are. */
function pictureOf(
  cycles: readonly CycleMetrics[],
  { title, ...picture }: Pick<Picture, 'file' | 'title' | 'panels'>,
): Picture {
  const nightStarts = cycles.filter(({ night }, index) => index > 0 && night !== cycles[index - 1]?.night);
  return {
    ...picture,
    title: `Training run ${cycles[0]?.trainRun ?? ''}: ${title}`,
    subtitle: factsOf(cycles).join(' · '),
    cycles: cycles.map(({ cycle }) => cycle),
    nightStarts: nightStarts.map(({ cycle }) => cycle),
  };
}

function factsOf(cycles: readonly CycleMetrics[]): string[] {
  const [first, last] = [cycles[0], cycles.at(-1)];
  if (first === undefined || last === undefined) return [];
  return [
    first === last ? `cycle ${first.cycle}` : `cycles ${first.cycle}–${last.cycle}`,
    first.night === last.night
      ? `night of ${first.night}`
      : `nights ${first.night} to ${last.night} (dotted: where one begins)`,
  ];
}

/** So many shares can be told apart; the rest is summed up. */
const MOST = 6;
const OTHERS = 'others';

/** How something was shared out in one cycle, by name. A name that is missing had nothing. */
export type Shares = Readonly<Record<string, number>>;

/**
 * Curves of shares over the cycles, the largest of all cycles first.
 *
 * @param order names that come first, in this order, where there are any of them
 */
export function shareCurves(shares: readonly Shares[], order: readonly string[] = []): Curve[] {
  const names = rank(shares, order);
  const shown = names.length > MOST ? names.slice(0, MOST - 1) : names;
  const rest = names.slice(shown.length);
  const curves = shown.map((name, index) => ({
    name,
    colour: hueOf(index),
    values: shares.map((share) => share[name] ?? 0),
  }));
  if (rest.length === 0) return curves;
  const values = shares.map((share) => rest.reduce((sum, name) => sum + (share[name] ?? 0), 0));
  return [...curves, { name: OTHERS, colour: GREY, values }];
}

function rank(shares: readonly Shares[], order: readonly string[]): string[] {
  const totals = new Map<string, number>();
  for (const share of shares) {
    for (const [name, value] of Object.entries(share)) totals.set(name, (totals.get(name) ?? 0) + value);
  }
  const known = order.filter((name) => totals.has(name));
  const others = [...totals].filter(([name, total]) => total > 0 && !order.includes(name));
  others.sort(([nameA, totalA], [nameB, totalB]) => totalB - totalA || (nameA < nameB ? -1 : 1));
  return [...known, ...others.map(([name]) => name)];
}
