import { setTimeout as pause } from 'node:timers/promises';
import { findSchedule, type NightSchedule } from '../../client/training/night-schedule';
import { readNights } from '../../client/training/read-nights';
import { readServing } from '../../policy/serving';
import { checkpointId, type Serving } from '../../training/manifest';
import type { NightProgress } from '../../training/progress';
import { EXIT, type ExitCode } from '../exit-code';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { columnsOf, paintFor, print, say } from '../terminal';
import { renderNights } from './list/render-nights';
import { withTraining, type TrainingSession, type TrainOptions } from './open-training';
import { describeSchedule } from './describe-schedule';
import { openNightView } from './status/open-night-view';

/** The options of `train status`. */
export interface StatusOptions extends TrainOptions {
  readonly json?: boolean;
}

/** Between two looks at a night: each is a query that a worker answers. */
const LOOK_MS = 2_000;

/** Whoever waits longer than this for the first look is told for what. */
const PATIENCE_MS = 5_000;

/** Follows the night under way to its end; where none is, tells of the latest one, the next one and what serves. */
export async function trainStatus(options: StatusOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withTraining(options, { used: true }, async (session) => {
    if (options.json === true) {
      await print(JSON.stringify(await readStatus(session), null, 2));
      return EXIT.answered;
    }
    if (await session.training.isUnderWay(session.trainRun)) {
      const code = await followNight(session, interruption);
      if (code !== EXIT.answered) return code;
    }
    await print(await describeRest(session));
    return EXIT.answered;
  });
}

/** Everything at once, for programs. */
interface TrainingStatus {
  readonly trainRun: string;
  /** null where no night is under way. */
  readonly night: NightProgress | null;
  readonly schedule: NightSchedule | null;
  readonly serving: Serving;
}

async function readStatus({ training, trainRun, temporal, store }: TrainingSession): Promise<TrainingStatus> {
  const [night, schedule, serving] = await Promise.all([
    training.progress(trainRun),
    findSchedule(temporal, trainRun),
    readServing(store),
  ]);
  return { trainRun, night, schedule, serving };
}

async function followNight(
  { training, trainRun }: TrainingSession,
  interruption: AbortSignal,
): Promise<ExitCode> {
  const view = await openNightView(process.stderr);
  const patience = setTimeout(() => {
    say('Waiting for a worker that tells of the night: start one with "temporal-conductor worker" …');
  }, PATIENCE_MS);
  try {
    for (;;) {
      const progress = await unlessInterrupted(interruption, training.progress(trainRun));
      clearTimeout(patience);
      if (progress === undefined) return leave(trainRun);
      if (progress === null) return EXIT.answered;
      view.show(progress);
      await unlessInterrupted(interruption, pause(LOOK_MS, undefined, { ref: false }));
    }
  } finally {
    clearTimeout(patience);
    view.close();
  }
}

function leave(trainRun: string): ExitCode {
  say(`The night of ${trainRun} goes on; come back to it with: temporal-conductor train status`);
  return EXIT.interrupted;
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
    latest.length === 0
      ? `No night of ${trainRun} was begun yet.`
      : renderNights(latest, { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) ?? 120 }),
    `serving  ${served}${pinned ? ', pinned' : ''}: ${reason}`,
    `schedule ${schedule === null ? 'none' : describeSchedule(schedule)}`,
  ].join('\n');
}
