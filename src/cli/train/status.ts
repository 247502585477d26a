import { EXIT, type ExitCode, listenForInterruption } from '../kit/ending';
import { loadSettings } from '../kit/load-settings';
import { configuredStore } from '../../store/open-store';
import { columnsOf, paintFor, print, say, toJson } from '../kit/terminal';
import { follow, type ViewFrame, lookAgain, openView } from '../kit/view/follow';
import { meanOf, meanOfAll } from '../../statistics/statistics';
import { counted, describeAge, describeUsd, joinFacts } from '../../trace/describe';
import { beside, type Paint, wrap, wrapFacts } from '../../trace/lines';
import {
  findSchedule,
  readNights,
  readServing,
  readTrainRuns,
  type TrainedNight,
} from '../../training/client';
import type { NightProgress } from '../../training/definitions';
import { checkpointId, nightWorkflowId } from '../../training/names';
import { describePlanner } from './checkpoints';
import { describeSchedule } from './night';
import { findMissing, sayMissing } from './night-parts';
import {
  chooseRun,
  findSetback,
  type TrainingSession,
  type TrainOptions,
  whyFailed,
  withTraining,
} from './session';

export async function trainStatus(options: TrainOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withTraining(options, { used: true }, async (session) => {
    const { training, trainRun, temporal, store } = session;
    if (options.json === true) {
      const [night, schedule, serving, missing] = await Promise.all([
        training.progress(trainRun),
        findSchedule(temporal, trainRun),
        readServing(store),
        findMissing(session),
      ]);
      await print(toJson({ trainRun, night, schedule, serving, missing }));
      return EXIT.answered;
    }
    await sayMissing(session);
    if ((await training.isUnderWay(trainRun)) && (await followNight(session, interruption)) === null) {
      say(`The night of ${trainRun} goes on; come back to it with: temporal-conductor train status`);
      return EXIT.interrupted;
    }
    await print(await describeRest(session), { painted: true });
    return EXIT.answered;
  });
}

/** Shows a night until it ends, and returns its last state; null after Ctrl-C. */
function followNight(session: TrainingSession, interruption: AbortSignal): Promise<unknown> {
  const { trainRun, training } = session;
  const id = nightWorkflowId(trainRun);
  const view = openView<NightProgress>(process.stderr, {
    draw: drawNight,
    tell: (before, after) => {
      const line = describeProgress(after);
      return before !== null && line === describeProgress(before) ? [] : [line];
    },
  });
  const states = lookAgain(async () => {
    const [progress, setback] = await Promise.all([training.progress(trainRun), findSetback(session, id)]);
    return progress && { ...progress, warning: setback ?? progress.warning };
  });
  return follow(session, id, interruption, { states, view });
}

async function describeRest({ config, store, trainRun, temporal }: TrainingSession): Promise<string> {
  const [nights, schedule, { serving, pinned, reason }, failure] = await Promise.all([
    readNights(store, trainRun),
    findSchedule(temporal, trainRun),
    readServing(store),
    whyFailed(temporal, trainRun),
  ]);
  const latest = nights.slice(-1);
  const served = serving === null ? 'no checkpoint' : checkpointId(serving);
  // A gate's reason says by itself what serves.
  const isSaid = !pinned && reason.startsWith(served);
  const facts = {
    ...(failure !== null && { failed: failure }),
    serving: isSaid ? reason : `${served}${pinned ? ', pinned' : ''}: ${reason}`,
    plans: describePlanner(config, serving),
    schedule: schedule === null ? 'none' : describeSchedule(schedule),
  };
  const columns = columnsOf(process.stdout) ?? Infinity;
  return [
    latest.length === 0 ? `No night of ${trainRun} has started yet.` : renderNights(latest),
    ...Object.entries(facts).flatMap(([label, text]) => beside(label, 9, text, columns)),
  ].join('\n');
}

const CURVE_COLUMNS = 48;
/** Columns beside the curve: `reward`, the first and the last value. */
const CURVE_FRAME = 24;

/** Draws a night under way, one string per line. */
export function drawNight(
  progress: NightProgress,
  { paint, columns, now }: Omit<ViewFrame, 'spinner'>,
): string[] {
  const { trainRun, night, status, phase, warning, rewards, best, done, cycles } = progress;
  // A night that is not open yet has claimed no cycles.
  const claimed =
    cycles.first > 0 &&
    `${done < cycles.first ? '' : `cycle ${done} done of `}cycles ${cycles.first} to ${cycles.last}`;
  const curve = describeRewards(rewards, Math.min(CURVE_COLUMNS, Math.max(1, columns - CURVE_FRAME)));
  const held = best && `best held out ${best.heldOut.toFixed(3)}: ${best.checkpoint}`;
  const elapsed = Math.max(0, now - Date.parse(progress.startedAt));
  const left = cycles.last - done;
  const isKnown = status === 'running' && rewards.length > 0 && left > 0;
  const sums = [
    `${describeUsd(progress.spentNanoUsd / 1e9)} spent`,
    `${describeAge(elapsed)} so far`,
    isKnown && `about ${describeAge((elapsed / rewards.length) * left)} to go`,
  ];
  return [
    ...wrapFacts([trainRun, `night ${night}`, status], columns).map(paint.strong),
    ...wrapFacts([claimed, phase], columns),
    ...paintCurves(wrapFacts([curve, held], columns), paint),
    ...wrapFacts(sums, columns).map(paint.faint),
    ...(warning === null ? [] : wrap([warning], columns).map(paint.bad)),
  ];
}

function describeProgress({ night, status, phase, done, rewards, warning }: NightProgress): string {
  const reward = rewards.at(-1)?.toFixed(3) ?? 'none yet';
  return joinFacts(`night ${night}`, status, phase, `cycle ${done} done`, `reward ${reward}`, warning);
}

export async function listNights({ run, json = false, ...options }: TrainOptions): Promise<ExitCode> {
  const store = configuredStore(await loadSettings(options));
  const runs = await readTrainRuns(store, run === undefined ? undefined : chooseRun(run));
  if (json) await print(toJson(runs));
  else if (runs.every(({ nights }) => nights.length === 0)) say(`No night was trained in ${store.url}.`);
  else {
    const { strong } = paintFor(process.stdout);
    const shown = runs.map(({ trainRun, nights }) => `${strong(trainRun)}\n${renderNights(nights)}`);
    await print(shown.join('\n\n'), { painted: true });
  }
  return EXIT.answered;
}

function renderNights(nights: readonly TrainedNight[]): string {
  const look = { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) ?? Infinity };
  return nights.flatMap((night) => drawTrained(night, look)).join('\n');
}

const LISTED_CURVE_COLUMNS = 24;

/** Draws a recorded night, one string per line: its cycles and rewards, and below them the gate's decision. */
export function drawTrained(
  night: TrainedNight,
  { paint, columns }: { readonly paint: Paint; readonly columns: number },
): string[] {
  const { date, decision, cycles, first, last, done, closedAt } = night;
  const trained = `${date} ${counted(done - first + 1, 'cycle')}`;
  const whole = closedAt === null ? `${trained} of ${last - first + 1}, not over` : trained;
  const [head = '', ...more] = wrapFacts([whole, ...measuredIn(night)], columns - 2);
  const collapse = cycles.at(-1)?.collapse ?? null;
  const below = [
    ...more,
    ...(decision === null ? [] : wrap([decision], columns - 2).map(paint.faint)),
    ...(collapse === null ? [] : wrap([collapse], columns - 2).map(paint.bad)),
  ];
  const lines = [paint.strong(date) + head.slice(date.length), ...below.map((line) => `  ${line}`)];
  return paintCurves(lines, paint);
}

function measuredIn({ cycles, checkpoint }: TrainedNight): (string | null)[] {
  const means = cycles.map(({ rewardMean }) => rewardMean);
  const rewards = describeRewards(means, LISTED_CURVE_COLUMNS);
  if (rewards === null) return [];
  const heldOut = cycles.flatMap((cycle) => cycle.heldOut ?? []).at(-1);
  // Mean cost of a rollout; the ledger has the night's total.
  const usd = meanOfAll(cycles.map((cycle) => cycle.usd));
  return [
    rewards,
    heldOut === undefined ? null : `held out ${heldOut.toFixed(3)}`,
    usd === null ? 'cost unknown' : `${describeUsd(usd)} a rollout`,
    checkpoint && checkpointId(checkpoint),
  ];
}

function paintCurves(lines: readonly string[], { busy }: Paint): string[] {
  return lines.map((line) => line.replace(/[▁-█]+/g, busy));
}

/** Returns the curve of the rewards with its first and last value; null without rewards. */
export function describeRewards(rewards: readonly number[], columns: number): string | null {
  const [first, latest] = [rewards[0], rewards.at(-1)];
  if (first === undefined || latest === undefined) return null;
  if (rewards.length === 1) return `reward ${first.toFixed(3)}`;
  return `reward ${sparkline(rewards, columns)} ${first.toFixed(3)} → ${latest.toFixed(3)}`;
}

const BARS = '▁▂▃▄▅▆▇█';

/** Smallest range of the chart, so that chance does not look like a rise or a fall. */
const LEAST_RANGE = 0.05;

/** Draws numbers as a line of small bars; with more numbers than columns, a bar is the mean of consecutive ones. */
export function sparkline(values: readonly number[], columns: number): string {
  const count = Math.min(values.length, columns);
  const bound = (place: number): number => Math.floor((place * values.length) / count);
  const means = Array.from(
    { length: count },
    (_, place) => meanOf(values.slice(bound(place), bound(place + 1))) ?? 0,
  );
  const [least, most] = [Math.min(...means), Math.max(...means)];
  const range = Math.max(LEAST_RANGE, most - least);
  const barOf = (mean: number): string => {
    const height = (mean - (least + most) / 2) / range + 0.5;
    return BARS[Math.min(BARS.length - 1, Math.floor(height * BARS.length))] ?? '';
  };
  return means.map(barOf).join('');
}
