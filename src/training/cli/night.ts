import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { checkServed, watchForMissingWorker } from '../../cli/queues';
import { print, say } from '../../cli/terminal';
import { digestOf } from '../../config/digest';
import { describeUsd } from '../../trace/describe';
import { readQuestionFile } from '../../evaluation/data/data-set';
import { isNightDate, nightWorkflowId, readCheckpointId } from '../ids';
import { trainingOf } from '../config/resolve';
import type { TrainingConfig } from '../config/schema';
import { describeSmallSet } from '../gate';
import { describeMissing, findMissing } from './night-parts';
import {
  chooseTimeZone,
  findSetback,
  LOOK_MS,
  type TrainingSession,
  type TrainOptions,
  whyFailed,
  withTraining,
} from './session';

interface StartOptions extends TrainOptions {
  readonly cycles?: number;
  readonly from?: string;
  readonly date?: string;
  readonly timezone?: string;
}

export async function startNight(options: StartOptions): Promise<ExitCode> {
  const { cycles, from, date, timezone } = options;
  const timeZone = chooseTimeZone(timezone);
  if (date !== undefined && !isNightDate(date)) {
    throw new UsageError(`--date ${JSON.stringify(date)} is no date: expected one such as 2026-11-21`);
  }
  if (from !== undefined && readCheckpointId(from) === null) {
    throw new UsageError(
      `--from ${JSON.stringify(from)} names no checkpoint: expected one such as nightly/000040`,
    );
  }
  return withTraining(options, { outliving: '"train start"' }, async (session) => {
    const { training, trainRun, config } = session;
    await warnOfSmallSet(trainingOf(config));
    const digest = digestOf(config);
    const { id, night } = await training.start({ trainRun, timeZone, cycles, from, date, config: digest });
    say(`Night ${night} of ${trainRun} is under way; follow it with: temporal-conductor train status`);
    await print(id);
    const { setback, failure } = (await checkServed(session)) ? await watchOpening(session, id) : NOTHING_YET;
    if (setback !== null) say(setback);
    if (failure !== null) {
      say(`It could not be opened, and is over: ${failure}`);
      return EXIT.failed;
    }
    const missing = (await findMissing(session)).filter(({ state }) => state === 'broken');
    for (const part of missing) say(describeMissing(part));
    return EXIT.answered;
  });
}

/** Silent where this machine has no such file, or not a right one: the worker reads it, and says what is wrong. */
async function warnOfSmallSet({ data }: TrainingConfig): Promise<void> {
  const rows = await readQuestionFile(data.heldOut).catch(() => null);
  const warning = rows && describeSmallSet(rows.length);
  if (warning !== null) say(`Note: ${warning}.`);
}

/** Whatever hinders the opening of a night mostly does so at once. */
const OPENING_MS = 10_000;

/** Events of a night's start, its first task, the order to open it and the task after that. */
const OPENING_EVENTS = 10;

/** Reason why a night cannot begin, or has ended at once; null for none so far. */
interface Opening {
  readonly setback: string | null;
  readonly failure: string | null;
}

const NOTHING_YET: Opening = { setback: null, failure: null };

async function watchOpening(session: TrainingSession, id: string): Promise<Opening> {
  const { temporal, trainRun } = session;
  const end = Date.now() + OPENING_MS;
  while (Date.now() < end) {
    const { status, historyLength } = await temporal.workflow.getHandle(id).describe();
    const setback = status.name === 'RUNNING' ? await findSetback(session, id) : null;
    const failure = await whyFailed(temporal, trainRun);
    const isOpened = historyLength > OPENING_EVENTS;
    if (setback !== null || failure !== null || isOpened) return { setback, failure };
    await pause(LOOK_MS / 10);
  }
  return NOTHING_YET;
}

/** Said once an order is sent; a worker carries it out. */
const SENT = {
  pause: 'The night is held after the cycle that is under way; go on with: temporal-conductor train resume',
  resume: 'The night goes on.',
  stop: 'The night ends after the cycle that is under way, and what it learned is judged.',
  cancel:
    'The night ends now, and nothing of it is judged. The next one goes on with the cycle that was under way.',
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

interface BudgetOptions extends TrainOptions {
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly hours?: number;
}

export async function budgetNight({ maxCost, hours, ...options }: BudgetOptions): Promise<ExitCode> {
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
