import { ApplicationFailure } from '@temporalio/activity';
import { differencesOf, digestOf } from '../../config/digest';
import { ConfigError } from '../../config/errors';
import { graderProblem } from '../../grading/grade';
import type { Question } from '../../grading/question';
import type { ConfigDigest } from '../../protocol/activity-contract';
import { FAILURES } from '../../protocol/failures';
import type { Store } from '../../store/store';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../names';
import { resolveTraining, trainingOf } from '../config/resolve';
import { type TrainableConfig, type TrainingConfig } from '../config/schema';
import type { OpenedNight, TrainInput } from '../contract';
import { questionSetKey } from '../../evaluation/definitions';
import { keepLines } from '../../store/records';
import { readCheckpointManifest } from '../policy/serving';
import type { NightRecord, RunRecord } from '../records';
import { openSealed } from '../artifacts';
import { askForFirstCheckpoint, keepPrompts, readQuestions } from './data';
import { askedHow } from './examples';
import { readCycle, readNight, readTrainRun, writeNight } from './records';
import { sortByTopic } from '../draw';

export type OpenNightRequest = Pick<TrainInput, 'trainRun' | 'cycles' | 'from' | 'config'> & {
  readonly date: string;
};

/**
 * Activity `conductor.train.openNight`: checks all that a night needs before it spends anything, and claims its cycles.
 * @throws ApplicationFailure, to be retried, if this worker read another version of the configuration
 * @throws ConfigError or PolicyError if the night cannot be run
 */
export async function openNight(
  { store, config }: { readonly store: Store; readonly config: TrainableConfig },
  request: OpenNightRequest,
): Promise<OpenedNight> {
  checkVersion(config, request.config);
  const { date } = request;
  const training = trainingOf(config);
  const resolved = resolveTraining(config, request);
  const questions = await readGradable(store, config);
  const { trainRun } = resolved;
  const run = await readTrainRun(store, trainRun);
  const night = await readNight(store, trainRun, date);
  const claimed = claimNight(run, night, { cycles: resolved.cycles, total: totalOf(training) });
  checkSchedule(training, run, claimed);
  const { isTrained, first, last, done } = claimed;
  const earlier = night?.first === first ? night : null;
  const settings = { ...resolved, cycles: last - first + 1 };
  const from = await findBeginning(store, request, { run, earlier, claimed });
  const sealed = openSealed(config);
  const firstCheckpoint = await askForFirstCheckpoint(sealed, training, settings, questions.train);
  const byTopic = sortByTopic(questions.train);
  const { train, heldOut } = earlier ?? {
    train: { ...(await keepSet(store, byTopic.questions)), topics: byTopic.topics },
    heldOut: await keepSet(store, questions.heldOut),
  };
  if (!isTrained) {
    const begun = earlier?.begun ?? from;
    const openedAt = earlier?.openedAt ?? new Date().toISOString();
    const cycles = { first, last, done };
    const open = { ...cycles, train, heldOut, checkpoint: from, begun, openedAt };
    await writeNight(store, { schema: 1, trainRun, date, ...open, closedAt: null, decision: null });
  }
  const writer = findWriter(request, run, { settings, from });
  const rolloutNanoUsd = await readRolloutCost(store, trainRun, done);
  const opened = { settings, night: { date, first, last }, isTrained, done, from, writer, rolloutNanoUsd };
  const prompts = await keepPrompts(sealed, questions.train, askedHow(store, settings));
  return { ...opened, ...firstCheckpoint, train, heldOut, prompts };
}

async function readRolloutCost(store: Store, trainRun: string, cycle: number): Promise<number | null> {
  const { usd = null } = (await readCycle(store, trainRun, cycle)) ?? {};
  return usd === null ? null : Math.round(usd * 1e9);
}

/** Last cycle of the run's learning rate schedule; a constant rate has none. */
function totalOf({ totalCycles, trainer }: TrainingConfig): number {
  return trainer.optimizer.schedule === 'constant' ? Infinity : totalCycles;
}

function checkSchedule(training: TrainingConfig, run: RunRecord | null, claimed: NightClaim): void {
  const { first, last, done, isTrained } = claimed;
  const isOver = isTrained || done >= Math.max(first, last);
  if (run === null || isOver || done < totalOf(training)) return;
  const { totalCycles, trainer } = training;
  const from = run.checkpoint === null ? 'CHECKPOINT' : checkpointId(run.checkpoint);
  throw new ConfigError(
    `${run.trainRun} has trained all its ${totalCycles} cycles (training.totalCycles): by its ${trainer.optimizer.schedule} ` +
      'schedule the learning rate is 0 from there on, and a night would learn nothing. Begin another training run with ' +
      `what it learned ("train start --run NAME --from ${from}"), or let the rate stay: ` +
      'training.trainer.optimizer.schedule: constant',
  );
}

function checkVersion(config: TrainableConfig, asked: ConfigDigest | undefined): void {
  const different = asked === undefined ? [] : differencesOf(asked, digestOf(config));
  if (different.length === 0) return;
  throw ApplicationFailure.create({
    type: FAILURES.configuration,
    message:
      'the worker read another version of the configuration than "train start", so the night does not begin: ' +
      `${different.join(', ')} ${different.length === 1 ? 'differs' : 'differ'}. Start the worker again to have it read yours`,
    nextRetryDelay: '3s',
  });
}

async function findBeginning(
  store: Store,
  request: OpenNightRequest,
  { run, earlier, claimed }: { run: RunRecord | null; earlier: NightRecord | null; claimed: NightClaim },
): Promise<CheckpointRef | null> {
  const own = earlier?.checkpoint ?? null;
  if (claimed.isTrained || claimed.done >= claimed.first) return own;
  const asked = readCheckpointId(request.from ?? '');
  if (asked === null) return own ?? run?.checkpoint ?? null;
  await readCheckpointManifest(store, asked);
  return asked;
}

/** Finds the writer of an interrupted night that sampled ahead, so that its samples are used again. */
function findWriter(
  request: OpenNightRequest,
  run: RunRecord | null,
  { settings, from }: Pick<OpenedNight, 'settings' | 'from'>,
): CheckpointRef | null {
  const [last, own] = [run?.checkpoint ?? null, from].map((each) => each && checkpointId(each));
  const goesOn = run !== null && request.from === undefined && last === own;
  return settings.staleness === 1 && goesOn ? (run.writer ?? null) : null;
}

/** @throws ConfigError, also if this worker cannot judge such questions */
async function readGradable(store: Store, config: TrainableConfig): ReturnType<typeof readQuestions> {
  const { data } = trainingOf(config);
  const questions = await readQuestions(data);
  const all = [...questions.train, ...questions.heldOut];
  // A local store's file holds copies of the right answers, too.
  const places = [data.train, data.heldOut, /^sqlite:(.+)$/.exec(store.url)?.[1] ?? []].flat();
  const problem = await graderProblem(all, places);
  if (problem !== null) throw new ConfigError(problem);
  const asking = all.find((question) => question.grader === 'freeform' && question.verify === true);
  if (asking === undefined || config.verifier !== undefined) return questions;
  throw new ConfigError(
    `question ${asking.id} says verify: true, and the configuration names no verifier: add "verifier:" with a model from ` +
      'outside the pool, or take verify out',
  );
}

async function keepSet(store: Store, questions: readonly Question[]): Promise<OpenedNight['heldOut']> {
  const { key } = await keepLines(store, questions, questionSetKey);
  return { set: key, count: questions.length };
}

export type NightClaim = Pick<NightRecord, 'first' | 'last' | 'done'> & { readonly isTrained: boolean };

/**
 * Returns the cycles of a night. A new one (null) claims those after the run's last, up to `total`; an existing one
 * keeps its own, so that a second start does not train them twice. If a later night has trained what it left, it has
 * nothing left to do, lest two lines of descent mix; if it had trained nothing, it claims cycles after them.
 */
export function claimNight(
  run: RunRecord | null,
  night: NightRecord | null,
  { cycles, total }: { readonly cycles: number; readonly total: number },
): NightClaim {
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

/** Whether a later night has trained the cycles that this one left. */
export function isOvertaken({ done }: NightRecord, run: RunRecord | null): boolean {
  return done < (run?.done ?? 0);
}
