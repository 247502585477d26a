import { EXIT, type ExitCode } from '../../cli/exit-code';
import { columnsOf, paintFor, print, say, toJson } from '../../cli/terminal';
import { counted, describeUsd } from '../../trace/describe';
import { type Paint, wrap } from '../../trace/lines';
import { checkpointId } from '../ids';
import { listTrainRuns, readNights, type TrainedNight } from '../client/read-runs';
import { chooseRun, openConfigured, type TrainOptions } from './session';

export async function listNights(options: TrainOptions): Promise<ExitCode> {
  const { run, json = false } = options;
  const { store } = await openConfigured(options);
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

/** Nights for a terminal: of each the cycles, the rewards, and below them the gate's decision. */
export function renderNights(nights: readonly TrainedNight[]): string {
  const paint = paintFor(process.stdout);
  const columns = columnsOf(process.stdout) ?? Infinity;
  return nights.flatMap((night) => drawTrained(night, { paint, columns })).join('\n');
}

/** A night that is over, a string a line: whatever is too long for one goes on below. */
export function drawTrained(
  night: TrainedNight,
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
): string[] {
  const { date, decision, cycles } = night;
  const collapse = cycles.at(-1)?.collapse ?? null;
  const facts = wrap([`${date} ${cyclesOf(night)}`, ...rewardsOf(night)], columns - 2, ' · ');
  const [head = '', ...more] = facts.map((line) => line.replace(/[▁-█]+/g, paint.busy));
  const decided = decision === null ? [] : wrap([decision], columns - 2);
  return [
    paint.strong(date) + head.slice(date.length),
    ...more.map((line) => `  ${line}`),
    ...decided.map((line) => paint.faint(`  ${line}`)),
    ...(collapse === null ? [] : wrap([collapse], columns - 2).map((line) => paint.bad(`  ${line}`))),
  ];
}

function cyclesOf({ first, last, done, closedAt }: TrainedNight): string {
  return counted(done - first + 1, 'cycle') + (closedAt === null ? ` of ${last - first + 1}, not over` : '');
}

/** The curve of the rewards, with the first and the last; null without any. */
export function describeRewards(rewards: readonly number[], columns: number): string | null {
  const [first] = rewards;
  const latest = rewards.at(-1);
  if (first === undefined || latest === undefined) return null;
  if (rewards.length === 1) return `reward ${first.toFixed(3)}`;
  return `reward ${sparkline(rewards, columns)} ${first.toFixed(3)} → ${latest.toFixed(3)}`;
}

function rewardsOf({ cycles, checkpoint }: TrainedNight): string[] {
  const rewards = describeRewards(
    cycles.map(({ rewardMean }) => rewardMean),
    CURVE_COLUMNS,
  );
  if (rewards === null) return [];
  const heldOut = cycles.flatMap((cycle) => cycle.heldOut ?? []).at(-1);
  return [
    rewards,
    ...(heldOut === undefined ? [] : [`held out ${heldOut.toFixed(3)}`]),
    costOf(cycles),
    ...(checkpoint === null ? [] : [checkpointId(checkpoint)]),
  ];
}

/** The mean of a rollout; what a night spent in all is in the ledger. */
function costOf(cycles: TrainedNight['cycles']): string {
  const costs = cycles.flatMap(({ usd }) => usd ?? []);
  if (costs.length < cycles.length) return 'cost unknown';
  return `${describeUsd(costs.reduce((sum, usd) => sum + usd, 0) / costs.length)} a rollout`;
}

const BARS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const;

/** Smallest range of the chart: chance must not look like a rise or a fall. */
const LEAST_RANGE = 0.05;

/** Numbers as a line of small bars; of more numbers than columns, each bar is the mean of some in a row. */
export function sparkline(values: readonly number[], columns: number): string {
  const count = Math.min(values.length, Math.max(0, columns));
  const bound = (place: number): number => Math.floor((place * values.length) / count);
  const means = Array.from({ length: count }, (_, place) => {
    const part = values.slice(bound(place), bound(place + 1));
    return part.reduce((sum, value) => sum + value, 0) / part.length;
  });
  const least = Math.min(...means);
  const most = Math.max(...means);
  const range = Math.max(LEAST_RANGE, most - least);
  return means
    .map((value) => (value - (least + most) / 2) / range + 0.5)
    .map((height) => BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? BARS[0])
    .join('');
}
