import type { QuestionSets } from '../../evaluation/activities';
import type { QuestionRef } from '../../evaluation/definitions';
import { keepLines, writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import type { SealedFiles } from '../artifacts';
import { trainingOf, type TrainingSettings } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';
import { drawExamples, LATEST, promptOf } from '../imitation';
import { type TrainingExample, trainingExampleSchema, type RightPlans } from '../records';
import { cycleExamplesKey, rightPlansKey } from '../store-keys';
import type { WarmStartRequest } from '../trainer-contract';
import { readRows } from './data';
import { askedHow, rightPlansOf } from './examples';
import { readGroup, readRightPlans } from './records';

export interface KeepRightPlansRequest {
  readonly cycle: number;
  readonly settings: TrainingSettings;
  /** Store keys of the cycle's groups, each with its question. */
  readonly groups: readonly { readonly key: string; readonly question: QuestionRef }[];
}

/** Activity `conductor.train.keepRightPlans`: stores the right plans of a cycle, to be imitated then or later. */
export async function keepRightPlans(
  { store, questions }: { readonly store: Store; readonly questions: QuestionSets },
  { cycle, settings, groups }: KeepRightPlansRequest,
): Promise<void> {
  const asked = askedHow(store, settings);
  const right: RightPlans[] = [];
  for (const { key, question } of groups) {
    const group = await readGroup(store, key);
    const { examples } = await rightPlansOf(group, await questions.read(question), asked);
    const completions = examples.map(({ completion }) => completion);
    const [first] = examples;
    if (first === undefined) continue;
    right.push({ topic: group.topic ?? '', ...promptOf(first), completions });
  }
  await writeRecord(store, rightPlansKey(settings.trainRun, cycle), right);
}

interface Dependencies {
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly sealed: SealedFiles;
}

export type WriteExamplesRequest = Pick<KeepRightPlansRequest, 'cycle' | 'settings'>;

/**
 * Activity `conductor.train.writeExamples`: draws the examples that a cycle imitates from the run's right plans so far
 * and from its warm start; null if no plan was right yet.
 */
export async function writeExamples(
  { config, store, sealed }: Dependencies,
  { cycle, settings }: WriteExamplesRequest,
): Promise<WarmStartRequest['examples'] | null> {
  const { trainRun, imitation, seed } = settings;
  if (imitation === undefined) throw new RangeError('training.imitation is not set: no cycle imitates.');
  const own = await readOwn(store, trainRun, cycle);
  if (own.length === 0) return null;
  const examples = drawExamples(own, await readWarm(config), imitation, seed, cycle);
  return keepLines(sealed, examples, () => cycleExamplesKey(trainRun, cycle));
}

/** Reads the latest right plans of a run up to cycle `last`, as many as are drawn from. */
async function readOwn(store: Store, trainRun: string, last: number): Promise<RightPlans[]> {
  const own: RightPlans[] = [];
  for (let cycle = last; cycle > 0 && own.length < LATEST; cycle -= 1) {
    own.unshift(...((await readRightPlans(store, trainRun, cycle)) ?? []));
  }
  return own;
}

async function readWarm(config: TrainableConfig): Promise<readonly TrainingExample[]> {
  const { imitation, warmStart } = trainingOf(config);
  if (warmStart === undefined || imitation?.warmStartShare === 0) return [];
  return (await readRows(warmStart.examples, trainingExampleSchema)).map(({ value }) => value);
}
