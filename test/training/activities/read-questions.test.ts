import { readQuestions } from '../../../src/training/client';
import { openQuestionFolder, type QuestionFolder, row } from './questions';

let folder: QuestionFolder;
beforeEach(async () => (folder = await openQuestionFolder()));

const read = async (train: readonly unknown[], heldOut: readonly unknown[] = [row('x')]) =>
  readQuestions({
    train: await folder.write('train.jsonl', train),
    heldOut: await folder.write('held-out.jsonl', heldOut),
  });

test('reads both sets in the order of their lines, and skips empty ones', async () => {
  const { train, heldOut } = await read([row('b'), '', row('a'), '  ']);
  expect(train).toEqual(['b', 'a'].map((id) => ({ ...row(id), answer: '4' })));
  expect(heldOut).toHaveLength(1);
});

test.each([
  ['no JSON', [row('a'), '{"id":'], ['train.jsonl:2: this is not JSON']],
  ['an unreadable answer', [{ ...row('a'), answer: 'four' }], ['train.jsonl:1: answer is "four": expected']],
  ['every mistake at once', [row('a'), '[]', '{}'], ['train.jsonl:2: ', 'train.jsonl:3: ']],
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

test('a missing file is named', async () => {
  const missing = readQuestions({ train: folder.train, heldOut: 'nowhere.jsonl' });
  await expect(missing).rejects.toThrow(/^nowhere\.jsonl does not exist \(looked in \//);
});

test('reports only the first ten of many faulty lines', async () => {
  const lines = [row('a'), ...Array.from({ length: 100 }, () => 'no JSON')];
  await expect(read(lines)).rejects.toThrow(/^(.*train\.jsonl:\d+: .*\n){10}and 90 more$/);
});

test('rows of a known data set are also read as questions', async () => {
  const { train } = await readQuestions({
    train: 'test/evaluation/data/samples/mmlu.parquet',
    heldOut: 'test/evaluation/data/samples/gpqa.csv',
  });
  expect(train).toHaveLength(12);
  expect(train[0]).toMatchObject({ grader: 'choice', answer: 'C', topic: 'conceptual_physics' });
});

test('a question of combining marks, which take quadratic time to order, is read at once', async () => {
  expect((await read([row('a', `e${'\u0300\u0316'.repeat(250_000)}`)])).train).toHaveLength(1);
});
