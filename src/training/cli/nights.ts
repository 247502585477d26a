import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print, say } from '../../cli/terminal';
import {
  findSchedule,
  holdSchedule,
  type NightSchedule,
  removeSchedule,
  scheduleNights,
  type ScheduleRequest,
} from '../client/schedule';
import { type ClockHazard, type Cron, findHazards, parseCron } from '../clock-hazards';
import { readCheckpointId } from '../manifest';
import { isNightDate, isTimeZone } from '../night-ids';
import { type TrainingSession, type TrainOptions, withTraining } from './session';

/** The options of `train start`. */
export interface StartOptions extends TrainOptions {
  readonly cycles?: number;
  /** Checkpoint to go on from. */
  readonly from?: string;
  /** Local calendar date. */
  readonly date?: string;
  readonly timezone?: string;
}

/** Begins a night of training now, prints its workflow id, and leaves it to the workers that are there. */
export async function startNight(options: StartOptions): Promise<ExitCode> {
  const { cycles, from, date, timezone } = options;
  checkOptions(options);
  return withTraining(options, { outliving: '"train start"' }, async ({ training, trainRun, config }) => {
    if (config.training === undefined) throw new UsageError(NOT_CONFIGURED);
    const { id, night } = await training.start({
      trainRun,
      timeZone: timezone ?? localTimeZone(),
      cycles,
      from,
      date,
    });
    say(`Night ${night} of ${trainRun} is under way; follow it with: temporal-conductor train status`);
    await print(id);
    return EXIT.answered;
  });
}

/** For a command that cannot do without the configuration's `training:`. */
export const NOT_CONFIGURED =
  'the configuration has no "training:": name a profile and files of questions there, see docs/training.md';

/** Nights are named by the calendar of whoever asks for them. */
export function localTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** @throws UsageError that names the option, and says what was expected */
export function checkTimeZone(timezone: string | undefined): void {
  if (timezone === undefined || isTimeZone(timezone)) return;
  throw new UsageError(
    `--timezone ${JSON.stringify(timezone)} is unknown: expected a name of the tz database, such as Europe/Berlin`,
  );
}

function checkOptions({ date, from, timezone }: StartOptions): void {
  checkTimeZone(timezone);
  if (date !== undefined && !isNightDate(date)) {
    throw new UsageError(`--date ${JSON.stringify(date)} is no date: expected one such as 2026-11-21`);
  }
  if (from !== undefined && readCheckpointId(from) === null) {
    throw new UsageError(
      `--from ${JSON.stringify(from)} names no checkpoint: expected one such as nightly/000040`,
    );
  }
}

/** The options of `train schedule`. */
export interface ScheduleOptions extends TrainOptions {
  /** Five fields. */
  readonly cron?: string;
  /** A time of every day, such as `03:30`. */
  readonly at?: string;
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

const HOUR_MS = 60 * 60 * 1000;

/** What the evaluation and the gate may take after a night's own hours. */
const AFTERWARDS_MS = 2 * HOUR_MS;

/** Creates, changes, shows, holds or removes the schedule of a training run's nights. */
export async function scheduleTraining(options: ScheduleOptions): Promise<ExitCode> {
  const cron = cronOf(options);
  checkTimeZone(options.timezone);
  const isNew = cron !== null;
  return withTraining(
    options,
    isNew ? { outliving: '"train schedule"' } : { used: true },
    async (session) => {
      if (options.remove === true) return remove(session);
      if (cron !== null) warnOfClocks(cron, options.timezone ?? localTimeZone());
      const schedule = cron === null ? await change(session, options) : await create(session, cron, options);
      await print(`${schedule.id} ${describeSchedule(schedule)}`);
      return EXIT.answered;
    },
  );
}

interface NamedCron {
  readonly text: string;
  readonly cron: Cron;
}

async function create(
  { temporal, config, trainRun }: TrainingSession,
  { text }: NamedCron,
  options: ScheduleOptions,
): Promise<NightSchedule> {
  if (config.training === undefined) throw new UsageError(NOT_CONFIGURED);
  const request: ScheduleRequest = {
    trainRun,
    taskQueue: config.temporal.taskQueue,
    cron: text,
    timeZone: options.timezone ?? localTimeZone(),
    jitterMs: options.jitter,
    timeLimitMs: options.timeLimit ?? config.training.budget.hours * HOUR_MS + AFTERWARDS_MS,
    cycles: options.cycles,
  };
  return scheduleNights(temporal, request);
}

/** Without a time: holds the schedule or lets it go on where that was asked for, and shows it. */
async function change(
  { temporal, trainRun }: TrainingSession,
  { pause, resume }: ScheduleOptions,
): Promise<NightSchedule> {
  if (pause === true || resume === true) await holdSchedule(temporal, trainRun, pause === true);
  const schedule = await findSchedule(temporal, trainRun);
  if (schedule !== null) return schedule;
  throw new UsageError(
    `training run ${trainRun} has no schedule: give it one with --at 03:30 or --cron "30 3 * * *"`,
  );
}

async function remove({ temporal, trainRun }: TrainingSession): Promise<ExitCode> {
  const isRemoved = await removeSchedule(temporal, trainRun);
  say(
    isRemoved
      ? `Training run ${trainRun} has no schedule any more. A night under way goes on.`
      : `Training run ${trainRun} had no schedule.`,
  );
  return EXIT.answered;
}

/** null where no time was given. */
function cronOf({ cron, at }: ScheduleOptions): NamedCron | null {
  const text = at === undefined ? cron : cronAt(at);
  if (text === undefined) return null;
  const parsed = parseCron(text);
  if (parsed !== null) return { text, cron: parsed };
  throw new UsageError(
    `--cron ${JSON.stringify(text)} is not five fields of minute, hour, day of month, month and day of week, ` +
      'e.g. "30 3 * * *"',
  );
}

function cronAt(at: string): string {
  const [, hour, minute] = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(at) ?? [];
  if (hour !== undefined && minute !== undefined) return `${Number(minute)} ${Number(hour)} * * *`;
  throw new UsageError(`--at ${JSON.stringify(at)} is no time of day: expected one such as 03:30`);
}

const YEARS_AHEAD = 5;

/** Says which nights a clock change leaves out or brings twice, in the years to come. */
function warnOfClocks({ cron }: NamedCron, timeZone: string): void {
  const now = new Date();
  const until = new Date(now).setUTCFullYear(now.getUTCFullYear() + YEARS_AHEAD);
  const hazards = findHazards(cron, timeZone, now.getTime(), until);
  for (const kind of ['skipped', 'repeated'] as const) {
    const first = hazards.find((hazard) => hazard.kind === kind);
    if (first !== undefined) say(warningOf(first, timeZone));
  }
}

function warningOf({ kind, date, time }: ClockHazard, timeZone: string): string {
  return kind === 'skipped'
    ? `Mind: on ${date} the clocks of ${timeZone} are put forward and never show ${time}: that night is left out.`
    : `Mind: on ${date} the clocks of ${timeZone} are put back and show ${time} twice: ` +
        'whether one night begins then or two, what they train is one.';
}

const NIGHTS_SHOWN = 3;

/** The next nights in one line, in the clocks of their zone, or why there are none. */
export function describeSchedule({ next, timeZone, isPaused, note }: NightSchedule): string {
  if (isPaused) {
    const why = note === null ? '' : `: ${note}`;
    return `is paused${why}; go on with: temporal-conductor train schedule --resume`;
  }
  if (next.length === 0) return 'is never due again';
  return `next ${next
    .slice(0, NIGHTS_SHOWN)
    .map((time) => describeTime(time, timeZone))
    .join(' · ')} (${timeZone})`;
}

/** `Sun, 22 Nov 2026, 03:30` on the clocks of a zone. */
function describeTime(time: Date, timeZone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
  }).format(time);
}
