import { QuestionSets } from '../../activities/training/question-set';
import { readNight } from '../../activities/training/records';
import type { Store } from '../../store/store';
import type { Question } from '../../training/question';
import { readMetrics } from './read-cycles';

/** The questions that a training run learned from, by id, as the sets of its nights have them in the store. */
export async function readTrainQuestions(store: Store, trainRun: string): Promise<Map<string, Question>> {
  const nights = new Set((await readMetrics(store, trainRun)).map(({ night }) => night));
  const sets = new QuestionSets(store);
  const questions = new Map<string, Question>();
  for (const date of nights) {
    const night = await readNight(store, trainRun, date);
    if (night === null) continue;
    const { set, count } = night.train;
    for (let index = 0; index < count; index += 1) {
      const question = await sets.read({ set, index });
      questions.set(question.id, question);
    }
  }
  return questions;
}
