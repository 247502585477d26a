import { readQuestions } from '../../../src/training/activities/questions';
import { openQuestionFolder, type QuestionFolder, row } from './questions';

let folder: QuestionFolder;
beforeEach(async () => (folder = await openQuestionFolder()));
afterEach(() => folder.close());

const read = async (train: readonly unknown[], heldOut: readonly unknown[] = [row('x')]) =>
  readQuestions({
    train: await folder.write('train.jsonl', train),
    heldOut: await folder.write('held-out.jsonl', heldOut),
  });

test('both sets in the order of their lines, empty ones passed over', async () => {
  const { train, heldOut } = await read([row('b'), '', row('a'), '  ']);
  expect(train).toEqual([
    { ...row('b'), answer: '4' },
    { ...row('a'), answer: '4' },
  ]);
  expect(heldOut).toHaveLength(1);
});

test.each([
  ['no JSON', [row('a'), '{"id":'], ['train.jsonl:2: this is no JSON']],
  [
    'an unreadable answer',
    [{ ...row('a'), answer: 'four' }],
    ['train.jsonl:1: answer is "four": expected a number'],
  ],
  [
    'a grader that is none',
    [{ ...row('a'), grader: 'vote' }],
    ['train.jsonl:1: grader is "vote": expected one of'],
  ],
  ['a field too many', [{ ...row('a'), hint: 'x' }], ['train.jsonl:1: hint is not a setting']],
  ['every mistake at once', ['[]', row('a'), '{}'], ['train.jsonl:1: ', 'train.jsonl:3: ']],
  [
    'an id twice',
    [row('a'), row('b'), row('a', 'Else?')],
    ['train.jsonl:3: id is "a", as it is in', 'train.jsonl:1'],
  ],
  [
    'a question twice',
    [row('a', 'How  MANY?'), row('b', ' how many?\n')],
    ['train.jsonl:2: question is the same as in'],
  ],
  [
    'a question that is held out',
    [row('a', 'What is x?')],
    ['held-out.jsonl:1: question is the same as in', 'train.jsonl:1'],
  ],
  ['an id that is held out', [row('x', 'Else?')], ['held-out.jsonl:1: id is "x", as it is in']],
  ['nothing', [''], ['train.jsonl holds no line']],
])('%s is refused with its place', async (_, rows, parts) => {
  const refusal = read(rows);
  for (const part of parts) await expect(refusal).rejects.toThrow(part);
  await expect(refusal).rejects.toMatchObject({ name: 'ConfigError' });
});

test('a file that is not there is named', async () => {
  const missing = readQuestions({ train: folder.train, heldOut: 'nowhere.jsonl' });
  await expect(missing).rejects.toThrow(/^nowhere\.jsonl cannot be read: ENOENT/);
});

test('a file that is another one altogether is not told line by line', async () => {
  const lines = Array.from({ length: 100 }, () => 'no JSON');
  await expect(read(lines)).rejects.toThrow(/^(.*train\.jsonl:\d+: .*\n){20}and 80 more$/);
});

test('a question of marks that take quadratic time to order is read at once', async () => {
  const { train } = await read([row('a', `e${'\u0300\u0316'.repeat(250_000)}`)]);
  expect(train).toHaveLength(1);
});
