import { keepText } from '../../../src/store/texts';
import { gradeAnswers } from '../../../src/evaluation/activities/grade-answers';
import type { Text } from '../../../src/protocol/text';
import { openNight } from '../../../src/training/activities/open-night';
import { QuestionSets } from '../../../src/evaluation/activities';
import { codeRow, openQuestionFolder, type QuestionFolder, row } from './questions';

let folder: QuestionFolder;
beforeEach(async () => (folder = await openQuestionFolder()));

test('grades each answer by itself: right, wrong, missing, and one in the store', async () => {
  const long = await keepText(folder.store, `${'It is hard. '.repeat(1000)}<answer>4</answer>`);
  expect(typeof long).toBe('object');
  const graderVersion = expect.stringMatching(/^number\//) as string;
  expect(await judge({}, ['4', '5', null, long])).toEqual([
    { verdict: 'correct', extracted: '4', reason: 'it is the same number', graderVersion, sameAs: 0 },
    { verdict: 'wrong', extracted: '5', reason: 'the number differs from 4', graderVersion, sameAs: 1 },
    { verdict: 'wrong', extracted: null, reason: 'there is no answer', graderVersion: 'none', sameAs: null },
    { verdict: 'correct', extracted: '4', reason: 'it is the same number', graderVersion, sameAs: 0 },
  ]);
});

async function judge(
  fields: object,
  answers: readonly (Text | null)[],
  config = folder.config(),
): ReturnType<typeof gradeAnswers> {
  const { store } = folder;
  await folder.write('train.jsonl', [{ ...row('a'), ...fields }]);
  const { train } = await openNight({ store, config }, { date: '2026-11-21' });
  return gradeAnswers(store, new QuestionSets(store), { question: { set: train.set, index: 0 }, answers });
}

test('an answer that its grader cannot judge is ungraded, with the reason', async () => {
  process.env.CONDUCTOR_PYTHON = '/no/python';
  const judged = await judge({ grader: 'math' }, ['4.0', '\\foo{']);
  delete process.env.CONDUCTOR_PYTHON;
  expect(judged).toMatchObject([
    { verdict: 'correct' },
    { verdict: 'ungraded', reason: expect.stringContaining('pip install math-verify') as string },
  ]);
});

test('a night with code questions but no sandbox is refused before anything is spent', async () => {
  process.env.CONDUCTOR_SANDBOX = 'none';
  const { grader, tests } = codeRow('a');
  const night = judge({ grader, tests, answer: undefined }, []);
  await expect(night).rejects.toThrow('code cannot be judged: CONDUCTOR_SANDBOX is "none"');
  delete process.env.CONDUCTOR_SANDBOX;
});

const freeform = { grader: 'freeform', answer: 'the Danube', verify: true };
const OPENAI = {
  baseUrl: 'http://127.0.0.1:9/v1',
  timeout: '1m',
  stream: true,
  idleTimeout: '1m',
  capabilities: {},
};

test('asks a verifier only about an answer that no rule can settle', async () => {
  const verifier = { provider: 'openai', model: 'judge', ...OPENAI } as const;
  const answers = ['the Danube', 'Donau', '', 'x'.repeat(8_001)];
  const judged = await judge(freeform, answers, { ...folder.config(), verifier });
  const words = [/^correct-\w{12}$/, /^wrong-\w{12}$/].map((word) => expect.stringMatching(word) as string);
  expect(judged).toMatchObject([
    { verdict: 'correct' },
    { verification: { prompt: expect.stringContaining('Donau') as string, words } },
    { verdict: 'unparseable' },
    { verdict: 'wrong' },
  ]);
});

test('refuses a night that needs a verifier, but has none or one of its own workers', async () => {
  const none = 'question a says verify: true, and the configuration names no verifier';
  await expect(judge(freeform, [])).rejects.toThrow(none);
  const verifier = { provider: 'openai', model: 'm', ...OPENAI } as const;
  const own = 'verifier is openai m, which is worker w: name a model from outside the pool';
  await expect(judge(freeform, [], { ...folder.config(), verifier })).rejects.toThrow(own);
});

test("names a user's own grader, and does not call it here", async () => {
  const own = { activity: 'judge', taskQueue: 'judges' };
  expect(await judge({ grader: 'custom', ...own, timeoutSeconds: 5 }, ['4'])).toEqual({
    ...own,
    right: '4',
    timeoutMs: 5_000,
  });
});
