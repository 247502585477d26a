import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print } from '../../cli/terminal';
import { FAILURES } from '../../evaluation/failure-kinds';
import { type Curve, type CurvesPage, curvesChart, type Panel } from '../../evaluation/report/curves-chart';
import { drawCharts, GREY, HUES } from '../../evaluation/report/page';
import { dollars, duration, percent, plain } from '../../evaluation/report/formats';
import { type Table, writeReport } from '../../evaluation/report/report';
import { sumCounts } from '../../evaluation/statistics';
import type { Verdict } from '../../grading/grade';
import { TOPOLOGIES } from '../../plan/topology';
import { counted } from '../../trace/describe';
import { readMetrics } from '../client/read-runs';
import type { CycleMetrics } from '../records';
import { findTraining, SEE_LIST, type TrainOptions } from './session';

type Cycles = readonly CycleMetrics[];

/** `train plot`: figures and charts of all cycles of a training run. */
export async function plotRun({
  out,
  ...options
}: TrainOptions & { readonly out: string }): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const cycles = await readMetrics(store, trainRun);
  if (cycles.length === 0) {
    throw new UsageError(
      `training run ${trainRun} has no cycle in the store ${store.url} that is over: ${SEE_LIST}`,
    );
  }
  const pages = [learningCurves(cycles), effortCurves(cycles)];
  const report = {
    title: `Training run ${trainRun}`,
    parts: [
      ...findingsOf(cycles),
      ...(await drawCharts(pages.map((page) => curvesChart(page)))),
      tableOf(pages),
    ],
  };
  for (const file of await writeReport(report, out)) await print(file);
  return EXIT.answered;
}

function findingsOf(cycles: Cycles): string[] {
  const [first, last] = [cycles[0], cycles.at(-1)];
  const best = Math.max(...cycles.map(({ heldOut }) => heldOut ?? -Infinity));
  const reward = `The mean reward went from ${first?.rewardMean.toFixed(3)} to ${last?.rewardMean.toFixed(3)}`;
  return [
    `${counted(cycles.length, 'cycle')}, from the night ${first?.night} to the night ${last?.night}.`,
    best === -Infinity ? `${reward}.` : `${reward}; the best on held-out questions is ${best.toFixed(3)}.`,
    ...(last?.collapse ? [`The policy may have collapsed: ${last.collapse}.`] : []),
  ];
}

/** All curves in numbers, for those who do not see the pictures. */
function tableOf(pages: readonly CurvesPage[]): Table {
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

/** Rewards of the Conductor, and the plans that it writes (paper, figure 3). */
export function learningCurves(cycles: Cycles): CurvesPage {
  return pageOf(cycles, 'learning', 'what was learned', [
    linePanel('Reward', 'mean and standard deviation of a cycle', plain, {
      training: cycles.map(({ rewardMean }) => rewardMean),
      'held-out': cycles.map(({ heldOut }) => heldOut),
      spread: cycles.map(({ rewardSpread }) => rewardSpread),
    }),
    sharePanel('Verdicts', 'share of all rollouts', verdictCurves(cycles)),
    sharePanel('Format', 'share of replies that were plans', [
      { name: 'plans', values: cycles.map(({ formatRate }) => formatRate) },
    ]),
    linePanel('Length of plans', 'mean number of steps', plain, {
      steps: cycles.map(({ planLength }) => planLength),
    }),
    sharePanel(
      'Who is asked',
      'share of all steps, by worker',
      shareCurves(cycles.map(({ workerShares }) => workerShares)),
    ),
    sharePanel(
      'Shape of plans',
      'share of all plans, by topology',
      shareCurves(
        cycles.map(({ topologyShares }) => topologyShares),
        TOPOLOGIES,
      ),
    ),
    sharePanel(
      'Failures',
      'share of all rollouts that failed, by signature',
      shareCurves(
        cycles.map(({ failureShares }) => failureShares),
        FAILURES,
      ),
    ),
  ]);
}

const PARTS = ['whole', 'rollouts', 'sampling', 'update', 'publish', 'grading', 'between'] as const;

/** Costs of training, and how the updates behaved. */
export function effortCurves(cycles: Cycles): CurvesPage {
  return pageOf(cycles, 'effort', 'what it took', [
    linePanel('Tokens', 'mean of a rollout', plain, {
      workers: cycles.map(({ workerTokens }) => workerTokens),
      plan: cycles.map(({ planTokens }) => planTokens),
    }),
    linePanel('Cost', 'USD, mean of a rollout', dollars, { workers: cycles.map(({ usd }) => usd) }),
    linePanel('Clipped', 'share of tokens whose ratio or importance weight was limited', percent, {
      ratio: cycles.map(({ update }) => update?.clipShare ?? null),
      weight: cycles.map(({ update }) => update?.weightLimited ?? null),
    }),
    linePanel(
      'Gaps',
      'nats a token: KL and mean difference from the sampler, and the policy’s own move',
      plain,
      {
        KL: cycles.map(({ update }) => update?.kl ?? null),
        sampler: cycles.map(({ update }) => update?.samplerGap ?? null),
        policy: cycles.map(({ update }) => update?.policyGap ?? null),
      },
    ),
    linePanel('Entropy', 'nats a token', plain, {
      entropy: cycles.map(({ update }) => update?.entropy ?? null),
    }),
    linePanel(
      'Time',
      'of a cycle and its parts',
      duration,
      Object.fromEntries(PARTS.map((part) => [part, cycles.map(({ times }) => times[part])])),
    ),
  ]);
}

function linePanel(
  title: string,
  note: string,
  format: Panel['format'],
  quantities: Readonly<Record<string, Curve['values']>>,
): Panel {
  const curves = Object.entries(quantities).map(([name, values]) => ({ name, values }));
  return { title, note, form: 'lines', curves, format };
}

function sharePanel(title: string, note: string, curves: readonly Curve[]): Panel {
  return { title, note, form: 'shares', curves, format: percent };
}

const VERDICT_COLOURS: readonly (readonly [Verdict, string])[] = [
  ['correct', HUES[2]],
  ['wrong', HUES[0]],
  ['unparseable', HUES[1]],
  ['ungraded', GREY],
];

function verdictCurves(cycles: Cycles): Curve[] {
  return VERDICT_COLOURS.map(([name, colour]) => ({
    name,
    colour,
    values: cycles.map(({ verdicts }) => verdicts[name] / Math.max(1, sum(Object.values(verdicts)))),
  })).filter(({ values }) => values.some((value) => value > 0));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function pageOf(cycles: Cycles, file: string, title: string, panels: readonly Panel[]): CurvesPage {
  const numbers = cycles.map(({ cycle }) => cycle);
  const nights = [...new Set(cycles.map(({ night }) => night))];
  const starts = nights.slice(1).map((date) => cycles.find(({ night }) => night === date));
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
    nightStarts: starts.flatMap((cycle) => cycle?.cycle ?? []),
    panels,
  };
}

/** A reader can tell so many shares apart; the rest is summed up. */
const MOST_SHARES = 6;

/** Curves of shares: names in `order` first, then the others by their total, largest first. */
export function shareCurves(
  shares: readonly Readonly<Record<string, number>>[],
  order: readonly string[] = [],
): Curve[] {
  const names = rank(shares, order);
  const shown = names.length > MOST_SHARES ? names.slice(0, MOST_SHARES - 1) : names;
  const rest = names.slice(shown.length);
  const curves: Curve[] = shown.map((name) => ({ name, values: shares.map((share) => share[name] ?? 0) }));
  if (rest.length === 0) return curves;
  const values = shares.map((share) => sum(rest.map((name) => share[name] ?? 0)));
  return [...curves, { name: 'others', colour: GREY, values }];
}

function rank(shares: readonly Readonly<Record<string, number>>[], order: readonly string[]): string[] {
  const totals = sumCounts(shares);
  const others = Object.entries(totals)
    .filter(([name, total]) => total > 0 && !order.includes(name))
    .toSorted(([nameA, totalA], [nameB, totalB]) => totalB - totalA || (nameA < nameB ? -1 : 1));
  return [...order.filter((name) => Object.hasOwn(totals, name)), ...others.map(([name]) => name)];
}
