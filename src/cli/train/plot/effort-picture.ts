import type { CycleMetrics, CycleTimes } from '../../../training/progress';
import type { UpdateMetrics } from '../../../training/trainer-contract';
import { dollars, duration, percent, plain } from './format-value';
import { hueOf, MEANING } from './palette';
import type { Curve, Panel, Picture } from './panel';
import { pictureOf } from './picture-of';

/** What training took, and how the updates behaved. */
export function effortPicture(cycles: readonly CycleMetrics[]): Picture {
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
      {
        title: 'Cost',
        note: 'USD, mean of a rollout',
        form: 'lines',
        curves: [{ name: 'workers', colour: MEANING.main, values: cycles.map((cycle) => cycle.usd) }],
        format: dollars,
      },
      updatePanel(cycles, {
        title: 'Clipped',
        note: 'share of tokens whose ratio was clipped',
        of: 'clipShare',
        name: 'clipped',
        format: percent,
      }),
      updatePanel(cycles, {
        title: 'KL divergence',
        note: 'nats a token, from the sampling to the trained policy',
        of: 'kl',
        name: 'KL',
        format: plain,
      }),
      updatePanel(cycles, {
        title: 'Entropy',
        note: 'nats a token',
        of: 'entropy',
        name: 'entropy',
        format: plain,
      }),
      timesPanel(cycles),
    ],
  });
}

function updatePanel(
  cycles: readonly CycleMetrics[],
  {
    of,
    name,
    ...panel
  }: Pick<Panel, 'title' | 'note' | 'format'> & {
    readonly of: keyof UpdateMetrics;
    readonly name: string;
  },
): Panel {
  const values = cycles.map(({ update }) => update?.[of] ?? null);
  return { ...panel, form: 'lines', curves: [{ name, colour: MEANING.main, values }] };
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
