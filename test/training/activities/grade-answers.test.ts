import { keepText } from '../../../src/store/texts';
import { gradeAnswers } from '../../../src/training/activities';
import { openNight } from '../../../src/training/activities/open-night';
import { QuestionSets } from '../../../src/evaluation/activities/question-sets';
import type { Judged } from '../../../src/evaluation/contract';
import { codeRow, openQuestionFolder, type QuestionFolder, row } from './questions';

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

async function judge(fields: object, answers: readonly string[]): ReturnType<typeof gradeAnswers> {
  const { store } = folder;
  await folder.write('train.jsonl', [{ ...row('a'), ...fields }]);
  const { train } = await openNight({ store, config: folder.config() }, { date: '2026-11-21' });
  return gradeAnswers(
    { store, questions: new QuestionSets(store) },
    { question: { set: train.set, index: 0 }, answers },
  );
}

test('an answer that settles on nothing is wrong: only a plan can be unparseable', async () => {
  expect(await judge({ grader: 'choice', answer: 'B' }, ['B', 'A or B'])).toEqual(['correct', 'wrong']);
});

test('an answer that its grader cannot judge is ungraded, with the reason', async () => {
  process.env.CONDUCTOR_PYTHON = '/no/python';
  const [right, unreadable] = (await judge({ grader: 'math' }, ['4.0', '\\foo{'])) as readonly Judged[];
  delete process.env.CONDUCTOR_PYTHON;
  expect(right).toBe('correct');
  expect(unreadable).toEqual({
    ungradedBecause: expect.stringContaining('pip install math-verify') as string,
  });
});

test('a night of code without a sandbox is refused before anything is spent', async () => {
  const { store } = folder;
  await folder.write('train.jsonl', [codeRow('a')]);
  process.env.CONDUCTOR_SANDBOX = 'none';
  const night = openNight({ store, config: folder.config() }, { date: '2026-11-21' });
  await expect(night).rejects.toThrow('code cannot be judged: CONDUCTOR_SANDBOX is "none"');
  delete process.env.CONDUCTOR_SANDBOX;
});

test("a grader of the user's own is named, and not asked here", async () => {
  const own = { activity: 'judge', taskQueue: 'judges' };
  expect(await judge({ grader: 'custom', ...own, timeoutSeconds: 5 }, ['4'])).toEqual({
    ...own,
    right: '4',
    timeoutMs: 5_000,
  });
});
