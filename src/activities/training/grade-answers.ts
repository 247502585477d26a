import { grade } from '../../grading/grade';
import type { Text } from '../../protocol/text';
import { readText } from '../../store/texts';
import type { Store } from '../../store/store';
import type { GradeAnswersRequest } from '../../training/activities';
import type { Verdict } from '../../training/rollout';
import type { QuestionSets } from './question-set';

/**
 * Activity `conductor.train.gradeAnswers`: tells of each answer whether it is right. A plan that led to no answer is
 * wrong.
 */
export async function gradeAnswers(
  { store, questions }: { readonly store: Store; readonly questions: QuestionSets },
  { question: ref, answers }: GradeAnswersRequest,
): Promise<readonly Verdict[]> {
  const question = await questions.read(ref);
  const judge = async (answer: Text | null): Promise<Verdict> =>
    answer === null ? 'wrong' : grade(question, await readText(store, answer));
  return Promise.all(answers.map(judge));
}
