import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print, say } from '../../cli/terminal';
import {
  findSchedule,
  holdSchedule,
  type NightSchedule,
  removeSchedule,
  scheduleNights,
} from '../client/schedule';
import { trainingOf } from '../config/resolve';
import { nightDate } from '../ids';
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
      const schedule = await create(session, cron, timeZone, options);
      for (const oddity of findOddities(schedule, cron)) say(`Note: ${oddity}.`);
      return show(schedule);
    });
  }
  return withTraining(options, { used: true }, async ({ temporal, trainRun }) => {
    if (options.remove === true) {
      const isRemoved = await removeSchedule(temporal, trainRun);
      say(
        isRemoved
          ? `Training run ${trainRun} has no schedule any more. A night under way goes on.`
          : `Training run ${trainRun} had no schedule.`,
      );
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

/** Notes on the next times of a schedule: a clock change may skip a night or make it due twice. Needs a jitter below 12 h. */
export function findOddities(
  { next, timeZone }: Pick<NightSchedule, 'next' | 'timeZone'>,
  cron: string,
): string[] {
  const isDaily = cron.trim().endsWith(' * * *');
  return next.slice(1).flatMap((time, index) => {
    const before = next[index]?.getTime() ?? 0;
    const gap = time.getTime() - before;
    const date = nightDate(time, timeZone);
    if (gap < 12 * HOUR_MS && date === nightDate(new Date(before), timeZone)) {
      return [`on ${date} it is due more than once; what is trained then is one night`];
    }
    if (!isDaily || gap < 36 * HOUR_MS) return [];
    const missing = nightDate(new Date(before + gap / 2), timeZone);
    return [`on ${missing} the clocks of ${timeZone} skip the time, and that night is left out`];
  });
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
