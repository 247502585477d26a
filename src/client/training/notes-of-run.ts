import type { Store } from '../../store/store';
import { countAnswers } from '../../training/count-answers';
import { notesFrom } from '../../training/notes-from';
import type { GroupRecord } from '../../training/rollout';
import { readGroups, readMetrics } from './read-cycles';
import { readTrainQuestions } from './read-train-questions';

/** Notes on the workers of a training run, by id, from how they answered its questions; empty where these have no topics. */
export async function notesOfRun(store: Store, trainRun: string): Promise<Map<string, string>> {
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
