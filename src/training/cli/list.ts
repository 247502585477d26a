import { EXIT, type ExitCode } from '../../cli/exit-code';
import { loadSettings } from '../../cli/settings';
import { columnsOf, paintFor, print, say } from '../../cli/terminal';
import { configuredKeys } from '../../encryption/keys';
import { openStore } from '../../store/open-store';
import { counted, describeUsd } from '../../trace/describe';
import { oneLine, type Paint } from '../../trace/lines';
import { listTrainRuns, readNights, type TrainedNight } from '../client/read-runs';
import { checkpointId } from '../manifest';
import { chooseRun, type TrainOptions } from './session';

/** The options of `train list`. */
export interface ListOptions extends TrainOptions {
  readonly json?: boolean;
}

/** Prints all training runs in the store, or the one that is named, night by night. Needs no server. */
export async function listNights({ config: file, run, json }: ListOptions): Promise<ExitCode> {
  const config = await loadSettings(file);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  const names = run === undefined ? await listTrainRuns(store) : [chooseRun(run)];
  const runs = await Promise.all(
    names.map(async (name) => ({ trainRun: name, nights: await readNights(store, name) })),
  );
  if (json === true) await print(JSON.stringify(runs, null, 2));
  else if (runs.every(({ nights }) => nights.length === 0)) say(`No night was trained in ${store.url}.`);
  else await print(runs.map(render).join('\n\n'));
  return EXIT.answered;
}

function render({
  trainRun,
  nights,
}: {
  readonly trainRun: string;
  readonly nights: TrainedNight[];
}): string {
  const paint = paintFor(process.stdout);
  return `${paint.strong(trainRun)}\n${renderNights(nights, { paint, columns: columnsOf(process.stdout) ?? 120 })}`;
}

const CURVE_COLUMNS = 24;

/** Nights for a terminal: of each the cycles, how the reward went, and below it what was decided of it. */
export function renderNights(
  nights: readonly TrainedNight[],
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
): string {
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
  return [
    `reward ${paint.busy(sparkline(rewards, CURVE_COLUMNS))} ${first.toFixed(3)} → ${latest.toFixed(3)}`,
    ...heldOutOf(cycles),
    costOf(cycles),
    ...(checkpoint === null ? [] : [checkpointId(checkpoint)]),
  ];
}

function heldOutOf(cycles: TrainedNight['cycles']): string[] {
  const latest = cycles.flatMap(({ heldOut }) => heldOut ?? []).at(-1);
  return latest === undefined ? [] : [`held out ${latest.toFixed(3)}`];
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
  const means = gather(values, columns);
  const least = Math.min(...means);
  const range = Math.max(...means) - least;
  return means
    .map((value) => (range === 0 ? 0.5 : (value - least) / range))
    .map((height) => BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? BARS[0])
    .join('');
}

function gather(values: readonly number[], columns: number): number[] {
  const count = Math.min(values.length, Math.max(0, columns));
  const bound = (place: number): number => Math.floor((place * values.length) / count);
  return Array.from({ length: count }, (_, place) => {
    const part = values.slice(bound(place), bound(place + 1));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
}
