import { stringify } from 'yaml';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print } from '../../cli/terminal';
import type { Store } from '../../store/store';
import { readGroups, readMetrics, readTrainQuestions } from '../client/read-runs';
import { countAnswers, notesFrom } from '../notes';
import type { GroupRecord } from '../rollout';
import { findTraining, type TrainOptions } from './session';

/** Prints notes on the workers, measured on the training questions, as they may stand in a configuration. Needs no server. */
export async function writeNotes(options: TrainOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const notes = await notesOfRun(store, trainRun);
  if (notes.size === 0) {
    throw new UsageError(
      `nothing can be told of workers from training run ${trainRun} in the store ${store.url}: ` +
        'it takes a cycle that is over, and questions with a "topic"',
    );
  }
  const workers = Array.from(notes, ([id, told]) => ({ id, notes: told }));
  await print(stringify({ workers }).trimEnd());
  return EXIT.answered;
}

/** Notes on the workers of a training run, by id, from how they answered its questions; empty where these have no topics. */
async function notesOfRun(store: Store, trainRun: string): Promise<Map<string, string>> {
  const questions = await readTrainQuestions(store, trainRun);
  const topics = new Map(
    [...questions].flatMap(([id, { topic }]) => (topic === undefined ? [] : [[id, topic]])),
  );
  const groups: GroupRecord[] = [];
  for (const { cycle } of await readMetrics(store, trainRun)) {
    groups.push(...(await readGroups(store, trainRun, cycle)));
  }
  return notesFrom(countAnswers(groups, topics));
}
