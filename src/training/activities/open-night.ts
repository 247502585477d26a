import { ApplicationFailure } from '@temporalio/activity';
import { differencesOf, digestOf } from '../../config/digest';
import { ConfigError } from '../../config/errors';
import { graderProblem } from '../../grading/grade';
import type { Question } from '../../grading/question';
import type { ConfigDigest } from '../../protocol/activity-contract';
import { FAILURES } from '../../protocol/failures';
import type { Store } from '../../store/store';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../ids';
import { resolveTraining, trainingOf } from '../config/resolve';
import { type TrainableConfig, type TrainingConfig } from '../config/schema';
import type { OpenedNight, TrainInput } from '../contract';
import { questionSetKey } from '../../evaluation/store-keys';
import { keepLines } from '../../store/texts';
import { metricsKey } from '../store-keys';
import { readManifest } from '../policy/serving';
import { cycleMetricsSchema, type NightRecord, type RunRecord } from '../records';
import { openSealed } from '../artifacts';
import { askForFirstCheckpoint } from './first-checkpoint';
import { readQuestions } from './questions';
import { readNight, readRecord, readRun, writeNight } from './records';
import { sortByTopic } from '../draw';

/** A night of a local calendar date, e.g. `2026-11-21`. */
export interface OpenNightRequest extends Pick<TrainInput, 'trainRun' | 'cycles' | 'from' | 'config'> {
  readonly date: string;
}

/**
 * Activity `conductor.train.openNight`: resolves the settings of a night, checks everything that it will need before
 * anything is spent, and claims its cycles. A night that is there already keeps its cycles and questions. The workflow's id
 * sees to it that a training run has only one night at a time.
 *
 * @throws ApplicationFailure, to be tried again, where this worker read another version of the configuration than whoever
 *   asked for the night: a worker that follows the file reads it within seconds
 * @throws ConfigError for settings, files and options that no night can be made of
 * @throws PolicyError where the checkpoint to go on from is unknown
 */
export async function openNight(
  { store, config }: { readonly store: Store; readonly config: TrainableConfig },
  request: OpenNightRequest,
): Promise<OpenedNight> {
  checkVersion(config, request.config);
  const { date } = request;
  const training = trainingOf(config);
  const resolved = resolveTraining(config, request);
  const questions = await readGradable(store, training.data);
  checkVerifier(config, [...questions.train, ...questions.heldOut]);
  const { trainRun } = resolved;
  const run = await readRun(store, trainRun);
  const night = await readNight(store, trainRun, date);
  const claimed = claimNight(run, night, { cycles: resolved.cycles, total: totalOf(training) });
  checkSchedule(training, run, claimed);
  const { isTrained, ...cycles } = claimed;
  const { first, last, done } = cycles;
  const earlier = night?.first === first ? night : null;
  const settings = { ...resolved, cycles: last - first + 1 };
  const from = await findBeginning(store, request, { run, earlier, claimed });
  const sealed = openSealed(config);
  const firstCheckpoint = await askForFirstCheckpoint(sealed, training, settings, questions.train);
  const { train, heldOut } = earlier ?? {
    train: await keepTopics(store, questions.train),
    heldOut: await keepSet(store, questions.heldOut),
  };
  if (!isTrained) {
    await writeNight(store, {
      schema: 1,
      trainRun,
      date,
      ...cycles,
      train,
      heldOut,
      checkpoint: from,
      begun: earlier?.begun ?? from,
      openedAt: earlier?.openedAt ?? new Date().toISOString(),
      closedAt: null,
      decision: null,
    });
  }
  return {
    settings,
    night: { date, first, last },
    isTrained,
    done,
    from,
    writer: findWriter(request, run, { settings, from }),
    ...firstCheckpoint,
    train,
    heldOut,
    rolloutNanoUsd: await readRolloutCost(store, trainRun, done),
  };
}

async function readRolloutCost(store: Store, trainRun: string, cycle: number): Promise<number | null> {
  const { usd = null } = (await readRecord(store, metricsKey(trainRun, cycle), cycleMetricsSchema)) ?? {};
  return usd === null ? null : Math.round(usd * 1e9);
}

/** A constant learning rate comes to no end. */
function totalOf({ totalCycles, trainer }: TrainingConfig): number {
  return trainer.optimizer.schedule === 'constant' ? Infinity : totalCycles;
}

/** A night that has only its gate before it is let through. */
function checkSchedule(training: TrainingConfig, run: RunRecord | null, claimed: Claim): void {
  const { first, last, done, isTrained } = claimed;
  const hasCyclesLeft = !isTrained && done < Math.max(first, last);
  if (run === null || !hasCyclesLeft || done < totalOf(training)) return;
  const { totalCycles, trainer } = training;
  const from = run.checkpoint === null ? 'CHECKPOINT' : checkpointId(run.checkpoint);
  throw new ConfigError(
    `${run.trainRun} has trained all its ${totalCycles} cycles (training.totalCycles): by its ${trainer.optimizer.schedule} ` +
      'schedule the learning rate is 0 from there on, and a night would learn nothing. Begin another training run with ' +
      `what it learned ("train start --run NAME --from ${from}"), or let the rate stay: ` +
      'training.trainer.optimizer.schedule: constant',
  );
}

const LOOK_AGAIN_MS = 3_000;

function checkVersion(config: TrainableConfig, asked: ConfigDigest | undefined): void {
  const different = asked === undefined ? [] : differencesOf(asked, digestOf(config));
  if (different.length === 0) return;
  throw ApplicationFailure.create({
    type: FAILURES.configuration,
    message:
      'the worker read another version of the configuration than "train start", so the night does not begin: ' +
      `${different.join(', ')} ${different.length === 1 ? 'differs' : 'differ'}. Start the worker again to have it read yours`,
    nextRetryDelay: LOOK_AGAIN_MS,
  });
}

/** Where the next cycle begins: a night that has trained cycles goes on from them. */
async function findBeginning(
  store: Store,
  request: OpenNightRequest,
  known: { readonly run: RunRecord | null; readonly earlier: NightRecord | null; readonly claimed: Claim },
): Promise<CheckpointRef | null> {
  const { run, earlier, claimed } = known;
  const own = earlier?.checkpoint ?? null;
  if (claimed.isTrained || claimed.done >= claimed.first) return own;
  const asked = request.from === undefined ? null : readCheckpointId(request.from);
  if (asked === null) return own ?? run?.checkpoint ?? null;
  await readManifest(store, asked);
  return asked;
}

/** An interrupted night that sampled ahead goes on as if it had not been: what was sampled serves again. */
function findWriter(
  request: OpenNightRequest,
  run: RunRecord | null,
  { settings, from }: Pick<OpenedNight, 'settings' | 'from'>,
): CheckpointRef | null {
  const goesOn = run !== null && request.from === undefined && describe(run.checkpoint) === describe(from);
  return settings.staleness === 1 && goesOn ? (run.writer ?? null) : null;
}

function describe(checkpoint: CheckpointRef | null): string | null {
  return checkpoint && checkpointId(checkpoint);
}

/** @throws ConfigError also where this worker cannot judge such questions */
async function readGradable(store: Store, data: TrainingConfig['data']): ReturnType<typeof readQuestions> {
  const questions = await readQuestions(data);
  const problem = await graderProblem(
    [...questions.train, ...questions.heldOut],
    [data.train, data.heldOut, ...placeOf(store)],
  );
  if (problem !== null) throw new ConfigError(problem);
  return questions;
}

/** The store's file, if it is one of this machine: right answers are copied there. */
function placeOf({ url }: Store): readonly string[] {
  const path = /^sqlite:(.+)$/.exec(url)?.[1];
  return path === undefined ? [] : [path];
}

function checkVerifier(config: TrainableConfig, questions: readonly Question[]): void {
  const asking = questions.find((question) => question.grader === 'freeform' && question.verify === true);
  if (asking === undefined || config.verifier !== undefined) return;
  throw new ConfigError(
    `question ${asking.id} says verify: true, and the configuration names no verifier: add "verifier:" with a model from ` +
      'outside the pool, or take verify out',
  );
}

async function keepTopics(store: Store, train: readonly Question[]): Promise<OpenedNight['train']> {
  const { questions, topics } = sortByTopic(train);
  return { ...(await keepSet(store, questions)), topics };
}

async function keepSet(store: Store, questions: readonly Question[]): Promise<OpenedNight['heldOut']> {
  const { key } = await keepLines(store, questions, questionSetKey);
  return { set: key, count: questions.length };
}

/** Cycles that a night may train. `isTrained`: none. */
export type Claim = Pick<NightRecord, 'first' | 'last' | 'done'> & { readonly isTrained: boolean };

/**
 * The cycles of a night. A night of a new date (null) claims those that follow the run's last; one that is there already
 * keeps those it has, so that a second start, a backfill or the hour that a clock change repeats does not train it twice.
 *
 * What a night leaves untrained, however it ended, is there for the next one: no cycle is left out, and what was sampled
 * for it serves again. The earlier night then has nothing left to do, lest two lines of descent be mixed up; but where it
 * had trained nothing yet, it begins after them.
 *
 * @param total what the run may have in all: no night claims more
 */
export function claimNight(
  run: RunRecord | null,
  night: NightRecord | null,
  { cycles, total }: { readonly cycles: number; readonly total: number },
): Claim {
  const trained = run?.done ?? 0;
  if (night === null || night.done < night.first) {
    const count = night === null ? cycles : 1 + night.last - night.first;
    const last = Math.max(trained, Math.min(trained + count, total));
    return { first: trained + 1, last, done: trained, isTrained: false };
  }
  const { first, last, done, closedAt } = night;
  const isOver = closedAt !== null && done >= last;
  return { first, last, done, isTrained: isOver || isOvertaken(night, run) };
}

/** A later night has trained what this one left: it does not go on from where it stands. */
export function isOvertaken({ done }: NightRecord, run: RunRecord | null): boolean {
  return done < (run?.done ?? 0);
}
