import { type AddCommands, CONFIG } from '../../cli/arguments';
import { EXIT, type ExitCode } from '../../cli/exit-code';
import { columnsOf, paintFor, print, say, toJson } from '../../cli/terminal';
import { counted, describeUsd } from '../../trace/describe';
import { oneLine, type Paint } from '../../trace/lines';
import { listTrainRuns, readNights, type TrainedNight } from '../client/read-runs';
import { chooseRun, openConfigured, type TrainOptions } from './session';
import { checkpointId } from '../checkpoint-ref';

/** `train list`: what was trained, night by night. */
export const addList: AddCommands = (train, settle) => {
  train
    .command('list')
    .description('print the nights of all training runs, or of one')
    .option('--run <name>', 'this one alone')
    .option('--json', 'print all metrics as JSON')
    .option(...CONFIG)
    .action(async (options: TrainOptions & { readonly json?: boolean }) => {
      settle(await listNights(options));
    });
};

async function listNights({
  config,
  run,
  json = false,
}: TrainOptions & { readonly json?: boolean }): Promise<ExitCode> {
  const { store } = await openConfigured(config);
  const names = run === undefined ? await listTrainRuns(store) : [chooseRun(run)];
  const runs = await Promise.all(
    names.map(async (name) => ({ trainRun: name, nights: await readNights(store, name) })),
  );
  if (json) await print(toJson(runs));
  else if (runs.every(({ nights }) => nights.length === 0)) say(`No night was trained in ${store.url}.`);
  else {
    const { strong } = paintFor(process.stdout);
    const shown = runs.map(({ trainRun, nights }) => `${strong(trainRun)}\n${renderNights(nights)}`);
    await print(shown.join('\n\n'), { painted: true });
  }
  return EXIT.answered;
}

const CURVE_COLUMNS = 24;

/** Nights for a terminal: of each the cycles, how the reward went, and below it what was decided of it. */
export function renderNights(nights: readonly TrainedNight[]): string {
  const paint = paintFor(process.stdout);
  const columns = columnsOf(process.stdout) ?? 120;
  return nights
    .flatMap((night) => [
      `${paint.strong(night.date)} ${[stateOf(night), ...rewardsOf(night, paint)].join(' · ')}`,
      ...(night.decision === null ? [] : [paint.faint(`  ${oneLine(night.decision, columns - 2)}`)]),
    ])
    .join('\n');
}

function stateOf({ first, last, done, closedAt }: TrainedNight): string {
  const cycles = counted(done - first + 1, 'cycle');
  return closedAt === null ? `${cycles} of ${last - first + 1}, not over` : cycles;
}

function rewardsOf({ cycles, checkpoint }: TrainedNight, paint: Paint): string[] {
  const rewards = cycles.map(({ rewardMean }) => rewardMean);
  const [first] = rewards;
  const latest = rewards.at(-1);
  if (first === undefined || latest === undefined) return [];
  const heldOut = cycles.flatMap((cycle) => cycle.heldOut ?? []).at(-1);
  return [
    `reward ${paint.busy(sparkline(rewards, CURVE_COLUMNS))} ${first.toFixed(3)} → ${latest.toFixed(3)}`,
    ...(heldOut === undefined ? [] : [`held out ${heldOut.toFixed(3)}`]),
    costOf(cycles),
    ...(checkpoint === null ? [] : [checkpointId(checkpoint)]),
  ];
}

/** Metrics know the mean of a rollout; what a night spent in all is in the ledger. */
function costOf(cycles: TrainedNight['cycles']): string {
  const costs = cycles.flatMap(({ usd }) => usd ?? []);
  if (costs.length < cycles.length) return 'cost unknown';
  return `${describeUsd(costs.reduce((sum, usd) => sum + usd, 0) / costs.length)} a rollout`;
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/**
 * Numbers as a line of small bars, the least one lowest: a curve in one line of a terminal. Of more numbers than columns,
 * each bar is the mean of some that follow each other.
 */
export function sparkline(values: readonly number[], columns: number): string {
  const count = Math.min(values.length, Math.max(0, columns));
  const bound = (place: number): number => Math.floor((place * values.length) / count);
  const means = Array.from({ length: count }, (_, place) => {
    const part = values.slice(bound(place), bound(place + 1));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  const least = Math.min(...means);
  const range = Math.max(...means) - least;
  return means
    .map((value) => (range === 0 ? 0.5 : (value - least) / range))
    .map((height) => BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? BARS[0])
    .join('');
}
