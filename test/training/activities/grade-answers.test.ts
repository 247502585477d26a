import { keepText } from '../../../src/store/texts';
import { gradeAnswers } from '../../../src/training/activities';
import { openNight } from '../../../src/training/activities/open-night';
import { QuestionSets } from '../../../src/training/activities/questions';
import { openQuestionFolder, type QuestionFolder } from './questions';

let folder: QuestionFolder;
beforeEach(async () => (folder = await openQuestionFolder()));
afterEach(() => folder.close());

test('each answer by itself: right, wrong, none, and one that lies in the store', async () => {
  const { store } = folder;
  const { train } = await openNight({ store, config: folder.config() }, { date: '2026-11-21' });
  const long = await keepText(store, `${'It is hard. '.repeat(1000)}<answer>4</answer>`);
  expect(typeof long).toBe('object');
  const verdicts = await gradeAnswers(
    { store, questions: new QuestionSets(store) },
    { question: { set: train.set, index: 0 }, answers: ['4', '5', null, long] },
  );
  expect(verdicts).toEqual(['correct', 'wrong', 'wrong', 'correct']);
});
