import type { CycleTimes } from '../../src/training/records';
import type { StepFigures, StepSeconds } from './measure-step';
import type { NightFigures } from './play-night';

/** Cells of a table row. */
export type Row = readonly string[];

/** Largest share of a cycle's wall-clock time in which none of its parts runs. */
const MOST_BETWEEN = 0.1;
/** Largest time of an update, as a multiple of bare TRL's. */
const MOST_OF_TRL = 1.1;

const PARTS = [
  'sampling',
  'rollouts',
  'grading',
  'update',
  'publish',
] as const satisfies readonly (keyof CycleTimes)[];

/** Returns the parts of a cycle's time. Parts overlap. */
export function shareRows({ cycles, times }: NightFigures): Row[] {
  const wall = sum(cycles.map(({ wallMs }) => wallMs));
  const underWay = sum(times.map(({ whole, between }) => whole - between));
  const rowOf = (what: string, part: number): Row => [
    what,
    seconds(part / cycles.length),
    percent(part / wall),
  ];
  return [
    ...PARTS.map((part) => [...rowOf(part, sum(times.map((time) => time[part]))), '', '']),
    [
      ...rowOf('none of these: orchestration', wall - underWay),
      `< ${percent(MOST_BETWEEN)}`,
      verdict(1 - underWay / wall < MOST_BETWEEN),
    ],
  ];
}

/** Compares a cycle's wall-clock time with the plain loop's. */
export function wallRow(latencyMs: number, plain: Figures, night: Figures): Row {
  const [own, others] = [meanWallMs(night), meanWallMs(plain)];
  return [`${latencyMs} ms calls: a cycle`, seconds(others), seconds(own), times(own / others)];
}

/** Compares a cycle whose rollouts run beside the previous update with one that waits for it. */
export function aheadRow(latencyMs: number, waiting: Figures, ahead: Figures): Row {
  const [after, before] = [meanWallMs(ahead), meanWallMs(waiting)];
  return [`${latencyMs} ms calls: a cycle`, seconds(before), seconds(after), times(after / before)];
}

/** Compares the cost of rollouts with calls that take no time. */
export function costRows(plain: Figures, night: Figures): Row[] {
  const rowOf = (
    what: string,
    figure: (figures: Figures) => number,
    show: (value: number) => string,
  ): Row => [what, show(figure(plain)), show(figure(night)), times(figure(night) / figure(plain))];
  const processorMs = ({ ownMs, serverMs }: Figures): number => ownMs + serverMs;
  return [
    rowOf('0 ms calls: rollouts per second', rolloutsPerSecond, decimal),
    rowOf(
      'the same, of one core, server included',
      (figures) => (1000 * rolloutsIn(figures)) / processorMs(figures),
      decimal,
    ),
    rowOf('processor time of a rollout', (figures) => figures.ownMs / rolloutsIn(figures), milliseconds),
    ["the same, of Temporal's server", '', milliseconds(night.serverMs / rolloutsIn(night)), ''],
  ];
}

/** Compares an update with bare TRL's. */
export function stepRows({ imports, ours, trl }: StepFigures): Row[] {
  const rowOf = (what: string, part: keyof StepSeconds): Row => [
    what,
    seconds(1000 * trl[part]),
    seconds(1000 * ours[part]),
    times(ours[part] / trl[part]),
  ];
  const target = [`≤ ${times(MOST_OF_TRL)}`, verdict(ours.whole <= MOST_OF_TRL * trl.whole)];
  return [
    [...rowOf('from checkpoint to checkpoint', 'whole'), ...target],
    [...rowOf('of it, the optimizer steps', 'loop'), '', ''],
    ['start-up: libraries, once', seconds(1000 * imports), seconds(1000 * imports), '', '', ''],
    ['start-up: a fork, each time', '', milliseconds(1000 * ours.fork), '', '', ''],
  ];
}

function verdict(isMet: boolean): string {
  return isMet ? 'met' : 'missed';
}

const decimal = (value: number): string => value.toFixed(1);
const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;
const times = (multiple: number): string => `× ${multiple.toFixed(2)}`;
const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;
const milliseconds = (ms: number): string => `${ms.toFixed(1)} ms`;

/** One cycle, played in any way. Times are wall-clock times in milliseconds. */
export interface CycleFigures {
  readonly wallMs: number;
  /** Update and publish; the rest of the cycle goes to rollouts and what they need. */
  readonly learningMs: number;
  /** Includes rollouts of groups without spread. */
  readonly rollouts: number;
  /** Null if there was nothing to learn from. */
  readonly weightsSha256: string | null;
}

/** The counted cycles, and their total processor times in milliseconds. */
export interface Figures {
  readonly cycles: readonly CycleFigures[];
  /** Processor time of the process that plays them. */
  readonly ownMs: number;
  /** Processor time of Temporal's server. */
  readonly serverMs: number;
}

function meanWallMs({ cycles }: Figures): number {
  return sum(cycles.map(({ wallMs }) => wallMs)) / cycles.length;
}

function rolloutsIn({ cycles }: Figures): number {
  return sum(cycles.map(({ rollouts }) => rollouts));
}

/** Returns rollouts per second outside updates and publishing, which take the same time in every loop. */
function rolloutsPerSecond(figures: Figures): number {
  const seconds = sum(figures.cycles.map(({ wallMs, learningMs }) => wallMs - learningMs)) / 1000;
  return rolloutsIn(figures) / seconds;
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
