import { EXIT, type ExitCode, UsageError } from '../../cli/ending';
import { print, say } from '../../cli/terminal';
import {
  findSchedule,
  holdSchedule,
  type NightSchedule,
  removeSchedule,
  scheduleNights,
} from '../client/schedule';
import { trainingOf } from '../config/resolve';
import { chooseTimeZone, type TrainingSession, type TrainOptions, withTraining } from './session';

interface ScheduleOptions extends TrainOptions {
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
  const cron = options.at === undefined ? options.cron : cronAt(options.at);
  const timeZone = chooseTimeZone(options.timezone);
  if (cron !== undefined) {
    return withTraining(options, { outliving: '"train schedule"' }, async (session) => {
      return show(await create(session, cron, timeZone, options));
    });
  }
  return withTraining(options, { used: true }, async ({ temporal, trainRun }) => {
    if (options.remove === true) {
      const has = (await removeSchedule(temporal, trainRun)) ? 'has no schedule any more' : 'had no schedule';
      say(`Training run ${trainRun} ${has}. A night under way goes on.`);
      return EXIT.answered;
    }
    const isHeld = options.pause === true;
    if (isHeld || options.resume === true) await holdSchedule(temporal, trainRun, isHeld);
    const schedule = await findSchedule(temporal, trainRun);
    if (schedule !== null) return show(schedule);
    throw new UsageError(
      `training run ${trainRun} has no schedule: give it one with --at 03:30 or --cron "30 3 * * *"`,
    );
  });
}

function cronAt(at: string): string {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(at) ?? [];
  if (hour !== undefined && minute !== undefined) return `${Number(minute)} ${Number(hour)} * * *`;
  throw new UsageError(`--at ${JSON.stringify(at)} is no time of day: expected one such as 03:30`);
}

const HOUR_MS = 60 * 60 * 1000;

/** Time for evaluation and gate after a night's hours. */
const AFTERWARDS_MS = 2 * HOUR_MS;

async function create(
  { temporal, config, trainRun }: TrainingSession,
  cron: string,
  timeZone: string,
  { jitter, timeLimit, cycles }: ScheduleOptions,
): Promise<NightSchedule> {
  const { budget } = trainingOf(config);
  try {
    return await scheduleNights(temporal, {
      trainRun,
      taskQueue: config.temporal.taskQueue,
      cron,
      timeZone,
      jitterMs: jitter,
      timeLimitMs: timeLimit ?? budget.hours * HOUR_MS + AFTERWARDS_MS,
      cycles,
    });
  } catch (error) {
    // How the SDK reports a cron expression that the server refuses.
    if (!(error instanceof TypeError)) throw error;
    throw new UsageError(
      `the server refuses --cron ${JSON.stringify(cron)}: ${error.message}; ` +
        'expected minute, hour, day of month, month and day of week, e.g. "30 3 * * *"',
      { cause: error },
    );
  }
}

async function show(schedule: NightSchedule): Promise<ExitCode> {
  await print(`${schedule.id} ${describeSchedule(schedule)}`);
  return EXIT.answered;
}

const NIGHTS_SHOWN = 3;

/** The next nights in one line, in their time zone, or why there are none. */
export function describeSchedule({ next, timeZone, isPaused, note }: NightSchedule): string {
  if (isPaused) {
    const why = note === null ? '' : `: ${note}`;
    return `is paused${why}; go on with: temporal-conductor train schedule --resume`;
  }
  if (next.length === 0) return 'is never due again';
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  });
  const times = next.slice(0, NIGHTS_SHOWN).map((time) => format.format(time));
  return `next ${times.join(' · ')} (${timeZone})`;
}
