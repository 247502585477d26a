import { setTimeout as pause } from 'node:timers/promises';
import { type AddCommands, CONFIG, RUN } from '../../cli/arguments';
import { EXIT, type ExitCode } from '../../cli/exit-code';
import { listenForInterruption, unlessInterrupted } from '../../cli/interruption';
import { columnsOf, harmless, paintFor, print, say, type Screen, toJson } from '../../cli/terminal';
import { describeUsd } from '../../trace/describe';
import { oneLine, type Paint } from '../../trace/lines';
import { readNights } from '../client/read-runs';
import { findSchedule } from '../client/schedule';
import { readServing } from '../policy/serving';
import type { NightProgress } from '../progress';
import { renderNights, sparkline } from './list';
import { describeSchedule } from './schedule';
import { type TrainingSession, type TrainOptions, withTraining } from './session';
import { checkpointId } from '../checkpoint-ref';

/** `train status`: follows the night under way, or shows the latest one, the next one and what serves. */
export const addStatus: AddCommands = (train, settle) => {
  train
    .command('status')
    .description('follow the night under way, or see the latest, the next and what serves')
    .option(...RUN)
    .option('--json', 'print everything at once as JSON')
    .option(...CONFIG)
    .action(async (options: TrainOptions & { readonly json?: boolean }) => {
      settle(await trainStatus(options));
    });
};

async function trainStatus(options: TrainOptions & { readonly json?: boolean }): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withTraining(options, { used: true }, async (session) => {
    const { training, trainRun, temporal, store } = session;
    if (options.json === true) {
      const [night, schedule, serving] = await Promise.all([
        training.progress(trainRun),
        findSchedule(temporal, trainRun),
        readServing(store),
      ]);
      await print(toJson({ trainRun, night, schedule, serving }));
      return EXIT.answered;
    }
    if (await training.isUnderWay(trainRun)) {
      const code = await followNight(session, interruption);
      if (code !== EXIT.answered) return code;
    }
    await print(await describeRest(session), { painted: true });
    return EXIT.answered;
  });
}

/** Between two looks at a night: each is a query that a worker answers. */
const LOOK_MS = 2_000;

/** After this long without a first look, it says what is waited for. */
const PATIENCE_MS = 5_000;

async function followNight(
  { training, trainRun }: TrainingSession,
  interruption: AbortSignal,
): Promise<ExitCode> {
  const view = await openNightView(process.stderr);
  const patience = setTimeout(() => {
    say('Waiting for a worker that answers for the night: start one with "temporal-conductor worker" …');
  }, PATIENCE_MS);
  try {
    for (;;) {
      const progress = await unlessInterrupted(interruption, training.progress(trainRun));
      clearTimeout(patience);
      if (progress === undefined) {
        say(`The night of ${trainRun} goes on; come back to it with: temporal-conductor train status`);
        return EXIT.interrupted;
      }
      if (progress === null) return EXIT.answered;
      view.show(progress);
      await unlessInterrupted(interruption, pause(LOOK_MS, undefined, { ref: false }));
    }
  } finally {
    clearTimeout(patience);
    view.close();
  }
}

async function describeRest({ store, trainRun, temporal }: TrainingSession): Promise<string> {
  const [nights, schedule, { serving, pinned, reason }] = await Promise.all([
    readNights(store, trainRun),
    findSchedule(temporal, trainRun),
    readServing(store),
  ]);
  const latest = nights.slice(-1);
  const served = serving === null ? 'no checkpoint' : checkpointId(serving);
  return [
    latest.length === 0 ? `No night of ${trainRun} has started yet.` : renderNights(latest),
    `serving  ${served}${pinned ? ', pinned' : ''}: ${reason}`,
    `schedule ${schedule === null ? 'none' : describeSchedule(schedule)}`,
  ].join('\n');
}

/** What a picture of a night is drawn with. */
export interface NightFrame {
  readonly paint: Paint;
  readonly columns: number;
  /** Milliseconds since 1970. */
  readonly now: number;
}

const BAR_COLUMNS = 32;
const CURVE_COLUMNS = 48;

/** One picture of a night under way: how far it is, how much longer it may take, what it learned and spent. A string a line. */
export function drawNight(progress: NightProgress, { paint, columns, now }: NightFrame): string[] {
  const { trainRun, night, status, phase, warning } = progress;
  return [
    paint.strong(oneLine(`${trainRun} · night ${night} · ${status}`, columns)),
    `${drawBar(progress, paint)} ${oneLine([...describeCycles(progress), phase].join(' · '), columns - BAR_COLUMNS - 1)}`,
    ...drawRewards(progress, paint),
    paint.faint(oneLine(describeSums(progress, now).join(' · '), columns)),
    ...(warning === null ? [] : [paint.bad(oneLine(warning, columns))]),
  ];
}

function drawBar(progress: NightProgress, paint: Paint): string {
  const { cycles, done } = progress;
  const share = hasClaimed(progress) ? (done - cycles.first + 1) / (cycles.last - cycles.first + 1) : 0;
  const full = Math.round(share * BAR_COLUMNS);
  return paint.good('█'.repeat(full)) + paint.faint('░'.repeat(BAR_COLUMNS - full));
}

function describeCycles(progress: NightProgress): string[] {
  if (!hasClaimed(progress)) return [];
  const { first, last } = progress.cycles;
  const span = `cycles ${first} to ${last}`;
  return [progress.done < first ? span : `cycle ${progress.done} done of ${span}`];
}

/** Before that, there are none to count. */
function hasClaimed({ cycles: { first, last } }: NightProgress): boolean {
  return first > 0 && last >= first;
}

function drawRewards({ rewards, best }: NightProgress, paint: Paint): string[] {
  const [first] = rewards;
  const latest = rewards.at(-1);
  if (first === undefined || latest === undefined) return [];
  const figures = `${first.toFixed(3)} → ${latest.toFixed(3)}`;
  const held =
    best === null ? '' : paint.faint(`  best held out ${best.heldOut.toFixed(3)}: ${best.checkpoint}`);
  return [`reward ${paint.busy(sparkline(rewards, CURVE_COLUMNS))} ${figures}${held}`];
}

function describeSums(progress: NightProgress, now: number): string[] {
  const { spentNanoUsd, startedAt } = progress;
  const elapsed = Math.max(0, now - Date.parse(startedAt));
  const remaining = remainingMs(progress, elapsed);
  return [
    spentNanoUsd === null ? 'cost unknown' : `${describeUsd(spentNanoUsd / 1e9)} spent`,
    `${describeHours(elapsed)} so far`,
    ...(remaining === null ? [] : [`about ${describeHours(remaining)} to go`]),
  ];
}

/** By the mean of the cycles so far; null before there is one, and while nothing goes on. */
function remainingMs({ cycles, done, rewards, status }: NightProgress, elapsed: number): number | null {
  const left = cycles.last - done;
  if (status !== 'running' || rewards.length === 0 || left <= 0) return null;
  return (elapsed / rewards.length) * left;
}

/** Shows a night as it goes. */
interface NightView {
  readonly show: (progress: NightProgress) => void;
  /** Leaves the last picture standing. */
  readonly close: () => void;
}

/** A picture that redraws itself on a terminal, a line for each change anywhere else. */
async function openNightView(screen: Screen): Promise<NightView> {
  if (!screen.isTTY || process.env.TERM === 'dumb') return openPlainView(screen);
  const { createLogUpdate } = await import('log-update');
  const update = createLogUpdate(screen);
  const paint = paintFor(screen);
  return {
    show: (progress) => {
      const frame = { paint, columns: columnsOf(screen) ?? 80, now: Date.now() };
      update(harmless(drawNight(progress, frame).join('\n'), true));
    },
    close: () => {
      update.done();
    },
  };
}

function openPlainView(screen: Screen): NightView {
  let last = '';
  return {
    show: ({ night, status, phase, done, rewards, warning }) => {
      const reward = rewards.at(-1)?.toFixed(3) ?? 'none yet';
      const parts = [`night ${night}`, status, phase, `cycle ${done} done`, `reward ${reward}`];
      const line = [...parts, ...(warning === null ? [] : [warning])].join(' · ');
      if (line !== last) screen.write(`${harmless(line)}\n`);
      last = line;
    },
    close: () => undefined,
  };
}

/** `under a minute`, `14 min`, `3 h 5 min`: for times of which no one counts the seconds. */
export function describeHours(milliseconds: number): string {
  const minutes = Math.round(milliseconds / 60_000);
  if (minutes < 1) return 'under a minute';
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
