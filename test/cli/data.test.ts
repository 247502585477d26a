import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { QuestionIndex } from '../../src/evaluation/data/question-index';
import { splitDataSets } from '../../src/evaluation/data';
import { drawFromFile } from '../../src/cli/evaluate/draw-questions';
import { type Question, questionSchema } from '../../src/grading';
import { type Ended, endedWith, said } from './command';
import { useFolder } from './stage';

const stage = useFolder();
const pathOf = (...names: string[]): string => join(stage.folder.path, ...names);
const write = (file: string, content: string): Promise<void> => stage.folder.write(file, content);
const data = (...args: readonly string[]): Promise<Ended> => stage.run('data', ...args);
const sample = (name: string): string => join(__dirname, '..', 'evaluation', 'data', 'samples', name);
const row = (id: string, question = `What is ${id}?`, more: Partial<Question> = {}): string =>
  JSON.stringify({ id, question, grader: 'exact', answer: 'x', ...more });

const written = async (file: string): Promise<Question[]> =>
  (await readFile(pathOf(file), 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => questionSchema.parse(JSON.parse(line)));

test('inspect reports contents, repeats and unusable rows, and fails if there is an unusable row', async () => {
  await write(
    'a.jsonl',
    [row('a'), row('b'), row('a', 'Else?'), row('c', 'what is  B?'), '{"id": 7}'].join('\n'),
  );
  await write('b.jsonl', row('z', 'Else?'));
  const { code, stdout } = await data('inspect', 'a.jsonl', '--against', 'b.jsonl');
  expect(code).toBe(1);
  for (const line of [
    'a.jsonl  4 questions · rows of our own · JSON lines',
    'graders     exact (4)',
    '1 row cannot be used:\n  a.jsonl:5: ',
    'a.jsonl:3: a, as in a.jsonl:1',
    '1 question repeated:\n  a.jsonl:4: the same as a.jsonl:2',
    '1 of 4 repeat one of 1 question in b.jsonl:\n  a.jsonl:3: the same as b.jsonl:1',
  ]) {
    expect(stdout).toContain(line);
  }
});

test('questions that have only answers are judged by the named grader', async () => {
  await write('pairs.jsonl', '{"question": "What is 6 times 7?", "answer": "42"}');
  const { stdout } = await data('inspect', 'pairs.jsonl', '--grader', 'number');
  expect(stdout).toContain('graders     number (1)');
  const asked = await drawFromFile(pathOf('pairs.jsonl'), { seed: 1, grader: 'exact' });
  expect(asked).toMatchObject([{ id: 'pairs-1', grader: 'exact' }]);
});

test('inspect --json reports the same facts, here for a known set', async () => {
  const { code, stdout } = await data('inspect', sample('mmlu.parquet'), '--json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'Parquet',
    format: 'MMLU',
    questions: 12,
    mapping: { topic: 'subject' },
    problems: { count: 0 },
    overlap: null,
  });
});

test('--prompts paper writes questions as they are asked in the paper, and inspect shows the prompt', async () => {
  const { stdout } = await data('inspect', sample('mmlu.parquet'), '--prompts', 'paper');
  expect(stdout).toMatch(/prompt +Write your work between <idea> and <\/idea>/);
  expect((await data('inspect', sample('mmlu.parquet'))).stdout).not.toContain('<idea>');
  const asked = await data('inspect', sample('big-code-bench.parquet'), '--prompts', 'paper', '--json');
  expect(JSON.parse(asked.stdout)).toMatchObject({ prompt: 'its field complete_prompt' });
  const options = ['--prompts', 'paper', '--part', 'train=4', '--out', 'asked'];
  expect((await data('split', sample('mmlu.parquet'), ...options)).code).toBe(0);
  for (const question of await written('asked/train.jsonl')) {
    expect(question).toMatchObject({ tagged: true, question: expect.stringContaining('<answer>') as string });
  }
});

test('a file that is missing or holds no questions is bad usage, reported in a sentence', async () => {
  await write('empty.jsonl', '');
  for (const [name, sentence] of [
    ['nowhere.jsonl', 'nowhere.jsonl does not exist (looked in /'],
    ['empty.jsonl', 'empty.jsonl holds no line'],
    ['.', 'is a folder: name a file in it'],
  ] as const) {
    expect(await data('inspect', name)).toMatchObject({ code: 2, stdout: '', stderr: said(sentence) });
  }
});

test('split writes disjoint parts with equal shares of each set', async () => {
  const files = ['math.parquet', 'mmlu.parquet', 'rlpr.parquet', 'live-code-bench.jsonl'].map(sample);
  const parts = ['--part', 'train=16', '--part', 'held-out=8'];
  const { code, stdout } = await data('split', ...files, ...parts, '--out', 'splits');
  expect(code).toBe(0);
  expect(stdout).toContain(
    `${join('splits', 'train.jsonl')}: 16 questions, MATH (4), MMLU (4), RLPR (4), LiveCodeBench (4)`,
  );
  const [train, heldOut] = await Promise.all([
    written('splits/train.jsonl'),
    written('splits/held-out.jsonl'),
  ]);
  expect(train).toHaveLength(16);
  expect(new Set([...train, ...heldOut].map(({ id }) => id)).size).toBe(24);
  const again = await data('split', ...files, ...parts, '--out', 'splits');
  expect(again).toMatchObject(endedWith(2, 'train.jsonl is there already'));
  expect(await written('splits/train.jsonl')).toEqual(train);
});

test('split drops repeats and questions dated before a given day, and refuses if too few are left', async () => {
  const file = pathOf('all.jsonl');
  await write(
    'all.jsonl',
    [
      row('a'),
      row('b', 'what is A?'),
      row('a', 'Another?'),
      row('new', 'New?', { date: '2031-05-01' }),
      row('old', 'Old?', { date: '2030-05-01' }),
      'no JSON',
    ].join('\n'),
  );
  const split = (name: string, count: number) =>
    splitDataSets([file], {
      parts: [{ name, count }],
      seed: 1,
      since: '2031-01-01',
      out: pathOf('out'),
    });
  expect(await split('two', 2)).toMatchObject({ copies: 2, badRows: 1 });
  const two = await written('out/two.jsonl');
  expect(two.map(({ id }) => id).sort()).toEqual(['a', 'new']);
  const index = new QuestionIndex();
  two.forEach((question) => {
    index.add(question.id, question);
  });
  expect(index.copies()).toEqual([]);
  await expect(split('three', 3)).rejects.toThrow('3 questions are asked for, and there are 2');
});
