import { z } from 'zod';
import { ConfigError, explainIssue } from '../../config/errors';
import type { TrainableConfig } from '../config/schema';
import type { Store } from '../../store/store';
import { resolveTraining, trainingOf } from '../config/resolve';
import { trainRunSchema } from '../config/schema';
import type { OpenedNight, OpenNightRequest } from '../contract';
import { CHECKPOINT_FORM } from '../manifest';
import { questionSetKey } from '../keys';
import { readManifest } from '../policy/serving';
import type { Question } from '../../grading/question';
import { type Claim, claimNight, type NightRecord, type RunRecord } from '../records';
import type { TrainingSettings } from '../settings';
import { askForFirstCheckpoint } from './first-checkpoint';
import { readQuestions } from './questions';
import { keepLines, readNight, readRun, writeNight } from './records';
import { type CheckpointRef, readCheckpointId } from '../checkpoint-ref';

const requestSchema = z.object({
  trainRun: trainRunSchema.exactOptional(),
  date: z.iso.date({ error: 'expected a calendar date such as 2026-11-21' }),
  cycles: z.int().positive().exactOptional(),
  from: z
    .string()
    .refine((text) => readCheckpointId(text) !== null, { error: `expected ${CHECKPOINT_FORM}` })
    .exactOptional(),
});

/**
 * Activity `conductor.train.openNight`: resolves the settings of a night, checks everything that it will need, and claims
 * its cycles. Nothing is spent before that. A night that is there already goes on with the cycles and the questions that
 * it has.
 *
 * Of one training run only one night is under way at a time: its workflow's id sees to that.
 *
 * @throws ConfigError for settings, files and options that no night can be made of
 * @throws PolicyError where the checkpoint to go on from is not known
 */
export async function openNight(
  { store, config }: { readonly store: Store; readonly config: TrainableConfig },
  request: OpenNightRequest,
): Promise<OpenedNight> {
  checkRequest(request);
  const training = trainingOf(config);
  const resolved = resolveTraining(config, request);
  const questions = await readQuestions(training.data);
  const { trainRun } = resolved;
  const known = await claim(store, trainRun, request.date, resolved.cycles);
  const { earlier, claimed } = known;
  const settings: TrainingSettings = { ...resolved, cycles: claimed.last - claimed.first + 1 };
  const from = await findBeginning(store, request, known);
  const first = await askForFirstCheckpoint(store, training, settings, questions.train);
  const sets = {
    train: earlier?.train ?? (await keepSet(store, questions.train)),
    heldOut: earlier?.heldOut ?? (await keepSet(store, questions.heldOut)),
  };
  const { date } = request;
  const { isTrained, ...cycles } = claimed;
  if (!isTrained) {
    await writeNight(store, {
      schema: 1,
      trainRun,
      date,
      ...cycles,
      ...sets,
      checkpoint: from,
      begun: earlier?.begun ?? from,
      openedAt: earlier?.openedAt ?? new Date().toISOString(),
      closedAt: null,
      decision: null,
    });
  }
  return {
    settings,
    night: { date, first: claimed.first, last: claimed.last },
    isTrained,
    done: claimed.done,
    from,
    ...first,
    ...sets,
  };
}

function checkRequest(request: OpenNightRequest): void {
  const { error } = requestSchema.safeParse(request);
  if (error === undefined) return;
  throw new ConfigError(error.issues.map((issue) => `a night's ${explainIssue(issue, request)}`).join('\n'));
}

interface Known {
  readonly run: RunRecord | null;
  /** The night as far as it has come; null where it begins. */
  readonly earlier: NightRecord | null;
  readonly claimed: Claim;
}

async function claim(store: Store, trainRun: string, date: string, cycles: number): Promise<Known> {
  const run = await readRun(store, trainRun);
  const night = await readNight(store, trainRun, date);
  const claimed = claimNight(run, night, cycles);
  return { run, earlier: night?.first === claimed.first ? night : null, claimed };
}

/** Where the first cycle that is to come begins: a night that has gone on from somewhere stays with that. */
async function findBeginning(
  store: Store,
  { from }: OpenNightRequest,
  { run, earlier, claimed }: Known,
): Promise<CheckpointRef | null> {
  const own = earlier?.checkpoint ?? null;
  if (claimed.isTrained || claimed.done >= claimed.first) return own;
  const asked = from === undefined ? null : readCheckpointId(from);
  if (asked === null) return own ?? run?.checkpoint ?? null;
  await readManifest(store, asked);
  return asked;
}

async function keepSet(store: Store, questions: readonly Question[]): Promise<OpenedNight['train']> {
  const { key } = await keepLines(store, questions, questionSetKey);
  return { set: key, count: questions.length };
}
