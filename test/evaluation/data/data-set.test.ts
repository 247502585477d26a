import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type DataRow, openDataSet } from '../../../src/evaluation/data/data-set';
import { inspectDataSet, type PlainGrader, type Prompts } from '../../../src/evaluation/data';
import { grade, type Question } from '../../../src/grading';
import { freshFolder } from '../../local/fresh-folder';

const sample = (name: string): string => join(__dirname, 'samples', name);

let folder: string;
beforeAll(async () => (folder = await freshFolder()));

async function write(name: string, content: string | Uint8Array): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, content);
  return file;
}

async function readAll(file: string, grader?: PlainGrader, prompts?: Prompts): Promise<DataRow[]> {
  const rows: DataRow[] = [];
  for await (const row of (await openDataSet(file, grader, prompts)).rows) rows.push(row);
  return rows;
}

async function questionsIn(file: string, grader?: PlainGrader, prompts?: Prompts): Promise<Question[]> {
  return (await readAll(file, grader, prompts)).flatMap((row) => ('question' in row ? row.question : []));
}

const problemsIn = async (file: string): Promise<string[]> =>
  (await readAll(file)).flatMap((row) =>
    'problems' in row ? row.problems.map((problem) => `${row.place.slice(file.length)} ${problem}`) : [],
  );

test.each([
  ['math.parquet', 'MATH', 12, { grader: 'math', answer: '180', topic: 'Prealgebra', level: '1' }],
  ['math-500.jsonl', 'MATH-500', 12, { id: 'test/prealgebra/1.json', grader: 'math', answer: '180' }],
  ['mmlu.parquet', 'MMLU', 12, { grader: 'choice', answer: 'C', topic: 'conceptual_physics' }],
  ['mmlu-zstd.parquet', 'MMLU', 12, { options: ['Glass', 'Rubber', 'Copper', 'Wax'] }],
  ['gpqa.csv', 'GPQA', 12, { id: 'rec0001', grader: 'choice', topic: 'Chemistry' }],
  ['aime.parquet', 'AIME', 12, { id: 'aime-2031-60', boxed: true, answer: '30', topic: '2031' }],
  ['rlpr.parquet', 'RLPR', 11, { id: 'rlpr-000000', tolerance: 1e-3, answer: '30 minutes' }],
  ['rlpr-as-text.jsonl.gz', 'RLPR', 11, { id: 'rlpr-000000', topic: 'physics', level: 'University' }],
  ['live-code-bench.jsonl', 'LiveCodeBench', 12, { id: 'inv000', grader: 'code', date: '2031-01-07' }],
  ['big-code-bench.parquet', 'BigCodeBench', 12, { grader: 'custom', topic: 'statistics' }],
  ['own.csv', 'rows of our own', 10, { id: 'sum-1', grader: 'number', answer: '5' }],
])('%s is read as %s', async (name, format, count, first) => {
  const inspection = await inspectDataSet(sample(name));
  expect(inspection).toMatchObject({ format, questions: count, badRows: 0, repeatedIds: { count: 0 } });
  const [question] = await questionsIn(sample(name));
  expect(question).toMatchObject(first);
});

test.each([
  ['math.parquet', /LaTeX/],
  ['math-500.jsonl', /LaTeX/],
  ['mmlu.parquet', /the letter of the right option/],
  ['rlpr.parquet', /with its unit/],
  ['live-code-bench.jsonl', /block of code/],
])(
  "%s with the paper's prompts asks for its answer in a tag, and an untagged answer does not count",
  async (name, words) => {
    const plain = await questionsIn(sample(name));
    const asked = await questionsIn(sample(name), undefined, 'paper');
    expect(asked).toHaveLength(plain.length);
    for (const [place, question] of asked.entries()) {
      const { question: text = '', ...rest } = plain[place] ?? {};
      expect(question).toEqual({
        ...rest,
        tagged: true,
        question: expect.stringContaining(text.trimEnd()) as string,
      });
      expect(question.question.slice(text.trimEnd().length)).toMatch(/<idea>.*<answer>/);
      expect(question.question.slice(text.trimEnd().length)).toMatch(words);
    }
    const [first] = asked;
    if (first === undefined || !('answer' in first) || first.grader === 'math') return;
    const verdictOf = async (reply: string): Promise<string> => (await grade(first, reply)).verdict;
    expect(await verdictOf(`<idea>easy</idea><answer>${first.answer}</answer>`)).toBe('correct');
    expect(await verdictOf(first.answer)).toBe('unparseable');
  },
);

test("BigCodeBench with the paper's prompts uses its complete prompt, and AIME is unchanged", async () => {
  const [plain] = await questionsIn(sample('big-code-bench.parquet'));
  const [complete] = await questionsIn(sample('big-code-bench.parquet'), undefined, 'paper');
  expect(complete).toEqual({ ...plain, question: expect.stringMatching(/^import|^def/) as string });
  expect(complete?.question).not.toBe(plain?.question);
  const aime = sample('aime.parquet');
  expect(await questionsIn(aime, undefined, 'paper')).toEqual(await questionsIn(aime));
});

test('a right answer to a question of each format is judged correct', async () => {
  const names = ['mmlu.parquet', 'gpqa.csv', 'aime.parquet', 'rlpr.parquet', 'own.csv'];
  const all = (await Promise.all(names.map((name) => questionsIn(sample(name))))).flat();
  const judged: string[] = [];
  for (const question of all) {
    if (question.grader === 'math' || question.grader === 'code') continue;
    const isBoxed = question.grader === 'number' && question.boxed === true;
    const said = isBoxed ? `\\boxed{${question.answer}}` : question.answer;
    judged.push((await grade(question, `<answer>${said}</answer>`)).verdict);
  }
  expect(judged.length).toBeGreaterThan(40);
  expect(new Set(judged)).toEqual(new Set(['correct']));
});

test.each([
  ['3.14', 'Float', 'freeform', 1e-3],
  ['0.25', 'Float', 'freeform', 1e-6],
  ['-12 km', 'String', 'freeform', 1e-3],
  ['a whale', 'String', 'freeform', undefined],
  ['$\\frac{7}{3}$', 'Fraction', 'freeform', 1e-3],
  ['-3/4', 'Expression', 'freeform', 1e-6],
  ['2\\pi', 'Expression', 'math', undefined],
])(
  'RLPR questions have the tolerance of their paper: %s, a %s',
  async (ground_truth, answer_type, grader, tolerance) => {
    const row = {
      data_source: 'x',
      prompt: [{ role: 'user', content: `How much? ${ground_truth}` }],
      reward_model: { ground_truth },
      extra_info: { answer_type },
    };
    const [question] = await questionsIn(await write('one-rlpr.jsonl', JSON.stringify(row)));
    expect(question).toMatchObject({ grader, answer: ground_truth });
    expect(question && 'tolerance' in question ? question.tolerance : undefined).toBe(tolerance);
  },
);

test('GPQA options are put in an order of their own, and the letter names the right one', async () => {
  const questions = await questionsIn(sample('gpqa.csv'));
  const right = questions.map((question, index) => {
    const { answer, options = [] } = question as Extract<Question, { grader: 'choice' }>;
    expect(options[answer.charCodeAt(0) - 65]).toMatch(new RegExp(`^${(9 * (index + 1)) / 4}(?:\\.0)?$`));
    expect(question.question).toContain(`\n${answer}. ${(9 * (index + 1)) / 4}`);
    return answer;
  });
  expect(new Set(right).size).toBeGreaterThan(2);
});

test('LiveCodeBench tests include hidden ones: plain for programs, a JSON value per line for functions', async () => {
  const questions = await questionsIn(sample('live-code-bench.jsonl'));
  expect(questions[1]).toMatchObject({ tests: [{ input: 'abc\n', output: 'cba\n' }, { input: 'x\n' }] });
  expect(questions[8]).toMatchObject({
    function: 'product',
    tests: [{ input: '12345678901\n10', output: '123456789010' }, { output: '0' }],
  });
  for (const question of questions) expect(question).toHaveProperty('tests.length', 2);
});

test('a question is the same however its file is compressed', async () => {
  expect(await questionsIn(sample('mmlu.parquet'))).toEqual(await questionsIn(sample('mmlu-zstd.parquet')));
});

test('rows of questions and answers are named by file and line, and judged as free text unless told otherwise', async () => {
  const lines = [
    { question: 'Capital of France?', answer: 'Paris', remark: 'easy' },
    { question: '6 · 7?', answer: 42, id: 'sum', grader: 'number', topic: 'sums' },
  ];
  const file = await write('pairs.jsonl', lines.map((line) => JSON.stringify(line)).join('\n'));
  const sum = { id: 'sum', question: '6 · 7?', grader: 'number', answer: '42', topic: 'sums' };
  const capital = { id: 'pairs-1', question: 'Capital of France?', answer: 'Paris' };
  expect(await questionsIn(file)).toEqual([{ ...capital, grader: 'freeform' }, sum]);
  expect(await questionsIn(file, 'exact')).toEqual([{ ...capital, grader: 'exact' }, sum]);
  expect(await inspectDataSet(file)).toMatchObject({ format: 'questions and answers', badRows: 0 });
  await expect(questionsIn(sample('own.csv'), 'exact')).rejects.toThrow('leave out --grader');
});

test('rows of questions and answers keep the fields of their grader, also from the cells of a CSV', async () => {
  const csv = 'question,answer,tolerance,options\nHow far?,42,0.01,"[""a"",""b""]"\n';
  const row = { question: 'How far?', answer: 42, tolerance: 0.01, options: null };
  for (const [name, content, id] of [
    ['fields.csv', csv, 'fields-2'],
    ['fields.jsonl', JSON.stringify(row), 'fields-1'],
  ] as const) {
    const file = await write(name, content);
    const question = {
      id,
      question: 'How far?',
      grader: 'number',
      answer: '42',
      tolerance: 0.01,
    };
    expect(await questionsIn(file, 'number')).toEqual([question]);
  }
});

test('a row may hold a conversation, and only the same conversation makes it the same question', async () => {
  const told = (first: string) => [
    { role: 'user', content: first },
    { role: 'assistant', content: 'It is known.' },
    { role: 'user', content: 'And its capital?' },
  ];
  const rows = ['France', 'Spain', 'France'].map((first) => ({ messages: told(first), answer: 'Paris' }));
  const file = await write('messages.jsonl', rows.map((row) => JSON.stringify(row)).join('\n'));
  const [first] = await questionsIn(file);
  expect(first).toMatchObject({
    question: 'And its capital?',
    conversation: [
      { role: 'user', content: 'France' },
      { role: 'assistant', content: 'It is known.' },
    ],
  });
  const { copies } = await inspectDataSet(file);
  expect(copies).toMatchObject({ count: 1 });
  const bad = await write(
    'unasked.jsonl',
    JSON.stringify({ messages: told('x').slice(0, 2), answer: 'Paris' }),
  );
  expect(await problemsIn(bad)).toEqual([
    ':1 messages must be a list of { "role", "content" }, the last of role "user"',
  ]);
});

const OWN = { id: 'a', question: 'How many?', grader: 'number', answer: '4' };

test.each([
  ['empty', '', /holds no line: expected/],
  ['blank', ' \n\n', /holds no line: expected/],
  ['a list', '[{"id": 1}]', /is one list in JSON: write one object per line/],
  ['a zip', 'PK\x03\x04...', /is packed: unpack it, and name/],
  ['UTF-16', Buffer.from('\ufeff{"id": 1}', 'utf16le'), /is text in UTF-16: save it as UTF-8/],
  ['a pointer', 'version https://git-lfs.github.com/spec/v1\n', /fetch it with "git lfs pull"/],
  ['a page', '<!DOCTYPE html><html>', /is a web page or XML: download the file itself/],
  ['bytes', Buffer.from([1, 0, 2, 0]), /is not text: expected JSON lines/],
  ['a letter', 'Dear reader\nhow are you', /is neither JSON lines nor CSV/],
  [
    'a set unknown',
    '{"prompt": "x", "target": "y"}',
    /not in a format I know\. Its rows have the fields prompt, target\.\nWrite an object a line/,
  ],
  [
    'a wide set unknown',
    JSON.stringify(Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`f${index}`, 1]))),
    /the fields f0, f1, .*f9, and 30 more\.\n/,
  ],
  ['a column twice', 'id,id\n1,2\n', /has two columns "id"/],
  ['no Parquet', 'PAR1 and nothing else', /is a broken Parquet file: .*fetch it again/],
  ['cut off', gzipSync('{"id": 1}\n'.repeat(1000)).subarray(0, 40), /is broken: .*; fetch it again/],
])('a file that is %s is refused in one sentence', async (name, content, sentence) => {
  const reading = readAll(await write(name, content));
  await expect(reading).rejects.toThrow(sentence);
  await expect(reading).rejects.toMatchObject({ name: 'ConfigError' });
});

test('a Parquet file with a broken footer or broken pages is refused', async () => {
  const bytes = await readFile(sample('mmlu.parquet'));
  const cut = await write('cut.parquet', bytes.subarray(0, bytes.length - 100));
  await expect(readAll(cut)).rejects.toThrow(/cut.parquet is a broken Parquet file: .*fetch it again/);
  const footer = Buffer.from(bytes).fill(0xff, bytes.length - 300, bytes.length - 8);
  await expect(readAll(await write('footer.parquet', footer))).rejects.toThrow(/broken Parquet file/);
  const pages = Buffer.from(bytes).fill(0xff, 8, 300);
  await expect(readAll(await write('pages.parquet', pages))).rejects.toThrow(/broken Parquet file/);
});

test('a BOM, Windows line ends, empty lines and a missing last line end are accepted', async () => {
  const file = await write(
    'windows.jsonl',
    `\ufeff${JSON.stringify(OWN)}\r\n\r\n${JSON.stringify({ ...OWN, id: 'b' })}`,
  );
  expect((await readAll(file)).map(({ place }) => place.slice(file.length))).toEqual([':1', ':3']);
});

test('unusable lines of JSON are reported with their numbers, and the others are read', async () => {
  const deep = `{"id": "a", "question": "Q?", "grader": "exact", "answer": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const file = await write(
    'bad.jsonl',
    Buffer.concat([
      Buffer.from(`${JSON.stringify(OWN)}\n{"id":\n7\n`),
      Buffer.from([0x22, 0xff, 0x22, 0x0a]),
      Buffer.from(`${deep}\n${JSON.stringify({ ...OWN, answer: 'four' })}\n`),
    ]),
  );
  expect(await problemsIn(file)).toEqual([
    ':2 this is not JSON: write one object per line',
    ':3 this is not an object: write one object per line',
    ':4 this is not UTF-8: save the file as UTF-8',
    expect.stringMatching(/^:5 (?:it is nested too deep to be read|answer is )/),
    ':6 answer is "four": expected a number, or text that ends with one',
  ]);
  expect(await questionsIn(file)).toHaveLength(1);
});

test('unusable rows of CSV are reported with their lines, and line ends within quotes are read', async () => {
  const file = await write(
    'bad.csv',
    'id,question,grader,answer\na,"How\nmany, ""in all""?",number,4\nb,How,many?,number,4\nc,say "hi" now,exact,x\nd,Why?,exact,y\ne,"never closed,exact,z\n',
  );
  expect((await problemsIn(file)).sort()).toEqual([
    ':4 it has 5 values, but the first line names 4: put quotes around a value with a comma',
    expect.stringMatching(/^:7 this cannot be read as CSV: Quote Not Closed/),
  ]);
  expect((await questionsIn(file)).map(({ question }) => question)).toEqual([
    'How\nmany, "in all"?',
    'say "hi" now',
    'Why?',
  ]);
});

test('a megabyte of misplaced quotes is read as it is', async () => {
  const texts = ['b"'.repeat(500_000), `"a"${'b"'.repeat(500_000)}`];
  const file = await write('quotes.csv', `question,answer\n${texts.map((text) => `${text},x\n`).join('')}`);
  const questions = (await questionsIn(file)).map(({ question }) => question);
  expect(questions.map((question, index) => question === texts[index])).toEqual([true, true]);
});

test('a row of 400 KB is read from JSON lines and from CSV', async () => {
  const question = 'Why? '.repeat(80_000);
  const lines = await write('long.jsonl', JSON.stringify({ ...OWN, question }));
  const csv = await write('long.csv', `id,question,grader,answer\na,"${question}",number,4\n`);
  for (const file of [lines, csv]) expect((await questionsIn(file))[0]?.question).toHaveLength(400_000);
});

test.each([
  ['no option', { question: 'Q?', subject: 's', choices: ['a', 'b'], answer: 7 }, /answer is 7: expected/],
  [
    'no answer',
    { problem: 'P', level: 'Level 1', type: 't', solution: 'So it is.' },
    /this solution has none/,
  ],
  [
    'a letter and a number that differ',
    { question: 'Q?', options: ['a', 'b'], answer: 'B', answer_index: 0 },
    /answer is B, and answer_index 0 of 2/,
  ],
])('a record of a known set with %s is a bad row', async (name, record, problem) => {
  const file = await write(`${name}.jsonl`, JSON.stringify(record));
  expect(await problemsIn(file)).toEqual([expect.stringMatching(problem)]);
});

const lines = (...rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

test('GSM8K is known by the last lines of its answers, with thousands and signs', async () => {
  const file = await write(
    'gsm8k.jsonl',
    lines(
      { question: 'How many rolls?', answer: '12-5=<<12-5=7>>7 are left.\n#### 7' },
      { question: 'What is it worth?', answer: '1,500-300=$1,200\n#### 1,200' },
      { question: 'How cold?', answer: 'It fell.\n#### -3\n' },
    ),
  );
  const questions = await questionsIn(file);
  expect(questions).toMatchObject([
    { grader: 'number', answer: '7', source: 'GSM8K' },
    { grader: 'number', answer: '1,200' },
    { grader: 'number', answer: '-3' },
  ]);
  const [first] = questions;
  for (const reply of ['7', '#### 7', 'The answer is 7.'])
    expect(first && (await grade(first, reply)).verdict).toBe('correct');
});

test('MMLU-Pro is asked with its options', async () => {
  const file = await write(
    'mmlu-pro.jsonl',
    lines({
      ...{ question_id: 2, question: 'Which of these is a mammal?', options: ['trout', 'bat', 'wren'] },
      ...{ answer: 'B', answer_index: 1, cot_content: '', category: 'biology', src: 'own' },
    }),
  );
  expect(await questionsIn(file)).toMatchObject([
    {
      id: 'mmlu-pro-2',
      question: 'Which of these is a mammal?\n\nA. trout\nB. bat\nC. wren',
      grader: 'choice',
      answer: 'B',
      topic: 'biology',
    },
  ]);
});

test('problems of a contest are AIME only if all answers fit, else mathematics, or as --grader says', async () => {
  const small = { problem_idx: 1, problem: 'How many primes are below 10?', answer: '4' };
  const surd = { problem_idx: 2, problem: 'Simplify sin(pi/3).', answer: '\\frac{\\sqrt{3}}{2}' };
  const aime = await write('contest.jsonl', lines(small, small));
  const hmmt = await write('hmmt.jsonl', lines(small, surd));
  expect(await questionsIn(aime)).toMatchObject([{ boxed: true, source: 'AIME' }, { boxed: true }]);
  expect(await questionsIn(hmmt)).toMatchObject([
    { question: small.problem, grader: 'math', answer: '4' },
    { question: surd.problem, grader: 'math', answer: surd.answer },
  ]);
  expect(await questionsIn(hmmt, 'exact')).toMatchObject([{ grader: 'exact' }, { grader: 'exact' }]);
});

test('SimpleQA is read with its topics, and a model may judge', async () => {
  const file = await write(
    'simple-qa.csv',
    `metadata,problem,answer\n"{'topic': 'Art', 'answer_type': 'Person', 'urls': []}",Who painted it?,Ada Lind\n`,
  );
  expect(await questionsIn(file)).toMatchObject([
    { question: 'Who painted it?', grader: 'freeform', verify: true, topic: 'Art', answer: 'Ada Lind' },
  ]);
});

test('options of any file are in what is asked, and rows with options are choices', async () => {
  const row = { question: 'Which is a bird?', answer: 'C', options: ['trout', 'bat', 'wren'] };
  const shown = { ...row, question: 'Which is a bird: (A) trout, (B) bat, (C) wren?' };
  const file = await write('options.jsonl', lines(row, shown, { ...row, answer: 'wren' }));
  expect(await questionsIn(file)).toMatchObject([
    { question: 'Which is a bird?\n\nA. trout\nB. bat\nC. wren', grader: 'choice', answer: 'C' },
    { question: shown.question },
    { answer: 'wren' },
  ]);
});

test.each([
  [
    'a choice without options',
    { grader: 'choice', question: 'Which is a bird?', answer: 'C' },
    /shows no option C/,
  ],
  [
    'a worked solution',
    { question: 'How many?', answer: 'First 2, then 5.\n#### 7' },
    /is a worked solution that ends with ####/,
  ],
  [
    'a box around a part of the answer',
    { question: 'How many?', answer: 'It is \\boxed{7}, as said' },
    /sent as a reply, would not be right/,
  ],
  [
    'a statement',
    { question: 'Who?', grader: 'exact', answer: '<answer>Ada</answer>' },
    /would not be right/,
  ],
])('%s is reported, since no reply could be right', async (name, row, problem) => {
  const file = await write(`${name}.jsonl`, lines({ question: 'Why?', answer: 'x' }, { id: 'b', ...row }));
  expect((await problemsIn(file)).join('\n')).toMatch(problem);
});
