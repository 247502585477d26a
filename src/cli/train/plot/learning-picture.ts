import type { CycleMetrics } from '../../../training/progress';
import type { Verdict } from '../../../training/rollout';
import { TOPOLOGIES } from '../../../training/topology';
import { percent, plain } from './format-value';
import { MEANING } from './palette';
import type { Curve, Panel, Picture } from './panel';
import { pictureOf } from './picture-of';
import { shareCurves } from './shares';

/** What the Conductor has learned: its rewards, and what kind of plans it writes (paper, figure 3). */
export function learningPicture(cycles: readonly CycleMetrics[]): Picture {
  return pictureOf(cycles, {
    file: 'learning',
    title: 'what was learned',
    panels: [
      rewardPanel(cycles),
      verdictPanel(cycles),
      formatPanel(cycles),
      lengthPanel(cycles),
      {
        title: 'Who is asked',
        note: 'share of all steps, by worker',
        form: 'shares',
        curves: shareCurves(cycles.map(({ workerShares }) => workerShares)),
        top: 1,
        format: percent,
      },
      {
        title: 'Shape of plans',
        note: 'share of all plans, by topology',
        form: 'shares',
        curves: shareCurves(
          cycles.map(({ topologyShares }) => topologyShares),
          TOPOLOGIES,
        ),
        top: 1,
        format: percent,
      },
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
    ...(heldOut.some((value) => value !== null) && {
      points: { name: 'held-out', colour: MEANING.second, values: heldOut },
    }),
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
  return {
    title: 'Verdicts',
    note: 'share of all rollouts',
    form: 'shares',
    curves: curves.filter(({ values }) => values.some((value) => value !== 0)),
    top: 1,
    format: percent,
  };
}

function formatPanel(cycles: readonly CycleMetrics[]): Panel {
  return {
    title: 'Format',
    note: 'share of replies that were plans',
    form: 'lines',
    curves: [{ name: 'plans', colour: MEANING.main, values: cycles.map((cycle) => cycle.formatRate) }],
    top: 1,
    format: percent,
  };
}

function lengthPanel(cycles: readonly CycleMetrics[]): Panel {
  return {
    title: 'Length of plans',
    note: 'mean number of steps',
    form: 'lines',
    curves: [{ name: 'steps', colour: MEANING.main, values: cycles.map((cycle) => cycle.planLength) }],
    format: plain,
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
