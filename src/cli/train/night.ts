import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { checkServed, watchForMissingWorker } from '../kit/queues';
import { print, say } from '../kit/terminal';
import { digestOf } from '../../config/digest';
import { describeUsd } from '../../trace/describe';
import {
  findSchedule,
  holdSchedule,
  type NightSchedule,
  removeSchedule,
  scheduleNights,
} from '../../training/client';
import { trainingOf } from '../../training/config';
import { nightWorkflowId } from '../../training/names';
import { sayMissing } from './night-parts';
import { findSetback, type TrainingSession, type TrainOptions, whyFailed, withTraining } from './session';

interface StartOptions extends TrainOptions {
  readonly cycles?: number;
  readonly from?: string;
  readonly date?: string;
  readonly timezone?: string;
}

export async function startNight(options: StartOptions): Promise<ExitCode> {
  const { cycles, from, date, timezone: timeZone = ownTimeZone() } = options;
  return withTraining(options, { outliving: '"train start"' }, async (session) => {
    const { training, trainRun, config } = session;
    const asked = { trainRun, timeZone, cycles, from, date, config: digestOf(config) };
    const { id, night } = await training.start(asked);
    say(`Night ${night} of ${trainRun} is under way; follow it with: temporal-conductor train status`);
    await print(id, { remedy: 'follow the night with: temporal-conductor train status' });
    const failure = (await checkServed(session)) ? await watchOpening(session, id) : null;
    if (failure !== null) {
      say(`The night failed to start: ${failure}`);
      return EXIT.failed;
    }
    await sayMissing(session);
    return EXIT.answered;
  });
}

function ownTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Time to watch the opening of a night: most failures appear at once. */
const OPENING_MS = 10_000;

/** History events up to the opening: start, first workflow task, opening activity and the task after it. */
const OPENING_EVENTS = 10;

/** Reports what holds up the opening of a night. Returns why the night failed already; null if it has not. */
async function watchOpening(session: TrainingSession, id: string): Promise<string | null> {
  const { temporal, trainRun } = session;
  const end = Date.now() + OPENING_MS;
  while (Date.now() < end) {
    const { historyLength } = await temporal.workflow.getHandle(id).describe();
    const failure = await whyFailed(temporal, trainRun);
    if (failure !== null) return failure;
    const setback = await findSetback(session, id);
    if (setback !== null) say(setback);
    if (setback !== null || historyLength > OPENING_EVENTS) return null;
    await pause(200);
  }
  return null;
}

/** Messages after a request is sent; a worker carries it out. */
const SENT = {
  pause:
    'The night pauses after the cycle that is under way; resume it with: temporal-conductor train resume',
  resume: 'The night goes on.',
  stop: 'The night ends after the cycle that is under way, and what it learned is judged.',
  cancel:
    'The night ends now, and nothing it learned is judged. The next one goes on with the cycle that was under way.',
} as const;

export const pauseNight = (options: TrainOptions): Promise<ExitCode> => steerNight('pause', options);

export const resumeNight = (options: TrainOptions): Promise<ExitCode> => steerNight('resume', options);

export function stopNight({ now, ...options }: TrainOptions & { now?: boolean }): Promise<ExitCode> {
  return steerNight(now === true ? 'cancel' : 'stop', options);
}

function steerNight(order: keyof typeof SENT, options: TrainOptions): Promise<ExitCode> {
  return withTraining(options, { used: true }, async ({ training, trainRun }) => {
    await training[order](trainRun);
    say(SENT[order]);
    return EXIT.answered;
  });
}

export async function budgetNight(
  options: TrainOptions & { readonly maxCost?: number | null; readonly hours?: number },
): Promise<ExitCode> {
  const { maxCost, hours } = options;
  if (maxCost === undefined && hours === undefined) {
    throw new UsageError('there is nothing to change: name --max-cost, --hours, or both');
  }
  return withTraining(options, { used: true }, async (session) => {
    const { training, trainRun } = session;
    const stopLooking = watchForMissingWorker(session, nightWorkflowId(trainRun));
    const held = await training.setBudget(trainRun, { costUsd: maxCost, hours }).finally(stopLooking);
    const cost = typeof held.costUsd === 'number' ? describeUsd(held.costUsd) : 'no limit';
    await print(`cost  ${cost}\nhours ${held.hours ?? 'as configured'}`);
    return EXIT.answered;
  });
}

interface ScheduleOptions extends TrainOptions {
  /** Time of day, as a cron expression. */
  readonly at?: string;
  readonly cron?: string;
  readonly timezone?: string;
  readonly cycles?: number;
  /** Milliseconds. */
  readonly jitter: number;
  /** Milliseconds. */
  readonly timeLimit?: number;
  readonly remove?: boolean;
  readonly pause?: boolean;
  readonly resume?: boolean;
}

export async function scheduleTraining(options: ScheduleOptions): Promise<ExitCode> {
  const { at, cron = at, timezone: timeZone = ownTimeZone(), pause: isHeld = false } = options;
  if (cron !== undefined) {
    return withTraining(options, { outliving: '"train schedule"' }, async (session) =>
      show(await schedule(session, cron, timeZone, options)),
    );
  }
  return withTraining(options, { used: true }, async ({ temporal, trainRun }) => {
    if (options.remove === true) {
      const has = (await removeSchedule(temporal, trainRun)) ? 'no longer has a schedule' : 'had no schedule';
      say(`Training run ${trainRun} ${has}. A night under way goes on.`);
      return EXIT.answered;
    }
    if (isHeld || options.resume === true) await holdSchedule(temporal, trainRun, isHeld);
    const found = await findSchedule(temporal, trainRun);
    if (found !== null) return show(found);
    throw new UsageError(
      `training run ${trainRun} has no schedule: give it one with --at 03:30 or --cron "30 3 * * *"`,
    );
  });
}

const HOUR_MS = 60 * 60 * 1000;

/** Time for the gate after a night's hours. */
const AFTERWARDS_MS = 2 * HOUR_MS;

async function schedule(
  { temporal, config, trainRun }: TrainingSession,
  cron: string,
  timeZone: string,
  { jitter: jitterMs, timeLimit, cycles }: ScheduleOptions,
): Promise<NightSchedule> {
  const { taskQueue } = config.temporal;
  const timeLimitMs = timeLimit ?? trainingOf(config).budget.hours * HOUR_MS + AFTERWARDS_MS;
  const request = { trainRun, taskQueue, cron, timeZone, jitterMs, timeLimitMs, cycles };
  try {
    return await scheduleNights(temporal, request);
  } catch (error) {
    // The SDK reports a cron expression that the server refuses as a TypeError.
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(
      `the server refuses --cron ${JSON.stringify(cron)}: ${error.message}; ` +
        'expected minute, hour, day of month, month and day of week, e.g. "30 3 * * *"',
      { cause: error },
    );
  }
}

async function show(found: NightSchedule): Promise<ExitCode> {
  await print(`${found.id} ${describeSchedule(found)}`);
  return EXIT.answered;
}

const NIGHTS_SHOWN = 3;

/** Describes the next nights in one line, in their time zone, or why there are none. */
export function describeSchedule({ next, timeZone, isPaused, note }: NightSchedule): string {
  if (isPaused) {
    const why = note === null ? '' : `: ${note}`;
    return `is paused${why}; resume it with: temporal-conductor train schedule --resume`;
  }
  if (next.length === 0) return 'is never due again';
  const day = { weekday: 'short', day: 'numeric', month: 'short', year: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, ...day, hour: '2-digit', minute: '2-digit' });
  const times = next.slice(0, NIGHTS_SHOWN).map((time) => format.format(time));
  return `next ${times.join(' · ')} (${timeZone})`;
}
