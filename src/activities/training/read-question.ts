import { keepText } from '../../store/texts';
import type { Store } from '../../store/store';
import type { AskedQuestion, QuestionRef } from '../../training/activities';
import type { QuestionSets } from './question-set';

/** Activity `conductor.train.readQuestion`: a question as whoever answers it is given it. */
export async function readQuestion(
  { store, questions }: { readonly store: Store; readonly questions: QuestionSets },
  ref: QuestionRef,
): Promise<AskedQuestion> {
  const { id, question } = await questions.read(ref);
  return { id, text: await keepText(store, question) };
}
