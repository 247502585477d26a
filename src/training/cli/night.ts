import { setTimeout as pause } from 'node:timers/promises';
import { EXIT, type ExitCode, UsageError } from '../../cli/ending';
import { checkServed, watchForMissingWorker } from '../../cli/queues';
import { print, say } from '../../cli/terminal';
import { digestOf } from '../../config/digest';
import { describeUsd } from '../../trace/describe';
import { isNightDate, nightWorkflowId, readCheckpointId } from '../names';
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
    const asked = { trainRun, timeZone, cycles, from, date, config: digestOf(config) };
    const { id, night } = await training.start(asked);
    say(`Night ${night} of ${trainRun} is under way; follow it with: temporal-conductor train status`);
    await print(id);
    const failure = (await checkServed(session)) ? await watchOpening(session, id) : null;
    if (failure !== null) {
      say(`It could not be opened, and is over: ${failure}`);
      return EXIT.failed;
    }
    for (const part of await findMissing(session)) say(describeMissing(part));
    return EXIT.answered;
  });
}

/** Whatever hinders the opening of a night mostly does so at once. */
const OPENING_MS = 10_000;

/** Events of a night's start, its first task, the order to open it and the task after that. */
const OPENING_EVENTS = 10;

/** Says what holds up the opening of a night. @returns why the night has ended at once; null for one that has not */
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
    await pause(LOOK_MS / 10);
  }
  return null;
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
