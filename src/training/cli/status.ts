import { EXIT, type ExitCode, listenForInterruption } from '../../cli/ending';
import { columnsOf, paintFor, print, say, toJson } from '../../cli/terminal';
import { follow, type Frame, lookAgain, openView } from '../../cli/view/follow';
import { counted, describeAge, describeUsd, joinFacts } from '../../trace/describe';
import { type Paint, wrap, wrapFacts } from '../../trace/lines';
import { meanOfAll } from '../../evaluation/statistics';
import { checkpointId, nightWorkflowId } from '../names';
import { listTrainRuns, readNights, type TrainedNight } from '../activities/records';
import { findSchedule } from '../client/schedule';
import { readServing } from '../policy/serving';
import type { NightProgress } from '../contract';
import { describeSchedule } from './schedule';
import { describePlanner } from './serving';
import { describeMissing, findMissing } from './night-parts';
import {
  chooseRun,
  findSetback,
  openConfigured,
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
    for (const part of await findMissing(session)) say(describeMissing(part));
    if (await training.isUnderWay(trainRun)) {
      const code = await followNight(session, interruption);
      if (code !== EXIT.answered) return code;
    }
    await print(await describeRest(session), { painted: true });
    return EXIT.answered;
  });
}

async function followNight(session: TrainingSession, interruption: AbortSignal): Promise<ExitCode> {
  const { trainRun } = session;
  const view = openView<NightProgress>(process.stderr, {
    draw: drawNight,
    tell: (before, after) => {
      const [known, line] = [before && describeProgress(before), describeProgress(after)];
      return line === known ? [] : [line];
    },
  });
  const states = lookAgain(async () => {
    const [progress, setback] = await Promise.all([
      session.training.progress(trainRun),
      findSetback(session, nightWorkflowId(trainRun)),
    ]);
    return progress && { ...progress, warning: setback ?? progress.warning };
  });
  const seen = await follow(session, nightWorkflowId(trainRun), interruption, { states, view });
  if (seen !== null) return EXIT.answered;
  say(`The night of ${trainRun} goes on; come back to it with: temporal-conductor train status`);
  return EXIT.interrupted;
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
  const facts = {
    failed: failure,
    // A gate's reason says by itself what serves.
    serving:
      pinned || !reason.startsWith(served) ? `${served}${pinned ? ', pinned' : ''}: ${reason}` : reason,
    plans: describePlanner(config, serving),
    schedule: schedule === null ? 'none' : describeSchedule(schedule),
  };
  return [
    latest.length === 0 ? `No night of ${trainRun} has started yet.` : renderNights(latest),
    ...Object.entries(facts).flatMap(([label, text]) => labelled(label, text)),
  ].join('\n');
}

const LABEL_COLUMNS = 9;

function labelled(label: string, text: string | null): string[] {
  const columns = (columnsOf(process.stdout) ?? Infinity) - LABEL_COLUMNS;
  const lines = text === null ? [] : wrap([text], columns);
  return lines.map((line, index) => (index === 0 ? label : '').padEnd(LABEL_COLUMNS) + line);
}

const CURVE_COLUMNS = 48;
/** Columns beside the curve: `reward`, the first and the last. */
const CURVE_FRAME = 24;

/** A night under way, a string a line. */
export function drawNight(
  progress: NightProgress,
  { paint, columns, now }: Omit<Frame, 'spinner'>,
): string[] {
  const { trainRun, night, status, phase, warning, rewards, best, done, cycles } = progress;
  // A night that is not open yet has claimed none.
  const claimed =
    cycles.first > 0 &&
    `${done < cycles.first ? '' : `cycle ${done} done of `}cycles ${cycles.first} to ${cycles.last}`;
  const curve = describeRewards(rewards, Math.min(CURVE_COLUMNS, Math.max(1, columns - CURVE_FRAME)));
  const held = best && `best held out ${best.heldOut.toFixed(3)}: ${best.checkpoint}`;
  return [
    ...wrapFacts([trainRun, `night ${night}`, status], columns).map(paint.strong),
    ...wrapFacts([claimed, phase], columns),
    ...wrapFacts([curve, held], columns).map((line) => line.replace(/[▁-█]+/g, paint.busy)),
    ...wrapFacts(describeSums(progress, now), columns).map(paint.faint),
    ...(warning === null ? [] : wrap([warning], columns).map(paint.bad)),
  ];
}

function describeSums(progress: NightProgress, now: number): string[] {
  const { cycles, done, rewards, status, spentNanoUsd, startedAt } = progress;
  const elapsed = Math.max(0, now - Date.parse(startedAt));
  const left = cycles.last - done;
  const isKnown = status === 'running' && rewards.length > 0 && left > 0;
  return [
    `${describeUsd(spentNanoUsd / 1e9)} spent`,
    `${describeAge(elapsed)} so far`,
    ...(isKnown ? [`about ${describeAge((elapsed / rewards.length) * left)} to go`] : []),
  ];
}

function describeProgress({ night, status, phase, done, rewards, warning }: NightProgress): string {
  const reward = rewards.at(-1)?.toFixed(3) ?? 'none yet';
  return joinFacts(`night ${night}`, status, phase, `cycle ${done} done`, `reward ${reward}`, warning);
}

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

const LISTED_CURVE_COLUMNS = 24;

/** Nights for a terminal: of each the cycles, the rewards, and below them the gate's decision. */
function renderNights(nights: readonly TrainedNight[]): string {
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
  const [head = '', ...more] = wrapFacts([`${date} ${cyclesOf(night)}`, ...rewardsOf(night)], columns - 2);
  const below = [
    ...more,
    ...(decision === null ? [] : wrap([decision], columns - 2).map(paint.faint)),
    ...(collapse === null ? [] : wrap([collapse], columns - 2).map(paint.bad)),
  ];
  return [paint.strong(date) + head.slice(date.length), ...below.map((line) => `  ${line}`)].map((line) =>
    line.replace(/[▁-█]+/g, paint.busy),
  );
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

function rewardsOf({ cycles, checkpoint }: TrainedNight): (string | null)[] {
  const means = cycles.map(({ rewardMean }) => rewardMean);
  const rewards = describeRewards(means, LISTED_CURVE_COLUMNS);
  if (rewards === null) return [];
  const heldOut = cycles.flatMap((cycle) => cycle.heldOut ?? []).at(-1);
  // The mean of a rollout; what a night spent in all is in the ledger.
  const usd = meanOfAll(cycles.map((cycle) => cycle.usd));
  return [
    rewards,
    heldOut === undefined ? null : `held out ${heldOut.toFixed(3)}`,
    usd === null ? 'cost unknown' : `${describeUsd(usd)} a rollout`,
    checkpoint && checkpointId(checkpoint),
  ];
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
