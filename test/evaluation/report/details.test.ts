import type { ConfigInput } from '../../../src';
import type { EvaluatedQuestion } from '../../../src/evaluation/definitions';
import { breakDown, downThePage } from '../../../src/evaluation/report/breakdown';
import { findDisagreements, showDisagreements } from '../../../src/evaluation/report/disagreements';
import { renderHtml, renderReportMarkdown } from '../../../src/report/report';
import { describeSetting, madeWith, readWriters } from '../../../src/evaluation/report/setting';
import { resolveRun } from '../../../src/config/resolve-run';
import { parseConfig } from '../../../src/config/load';
import { keepText } from '../../../src/store/texts';
import { type MethodRecord, methodRecordSchema } from '../../../src/evaluation/results';
import { aRecord } from '../a-record';
import { CARD } from './a-card';
import { openStore } from '../../../src/store/open-store';
import { createPolicyProvider } from '../../../src/training/client';
import { writeManifest } from '../../../src/training/policy/serving';
import { aManifest } from '../../support/a-manifest';
import { freshFolder } from '../../local/fresh-folder';

const QUESTIONS: EvaluatedQuestion[] = Array.from({ length: 24 }, (_, index) => ({
  id: `q${index}`,
  question: `Question ${index}?\nIt has two lines.`,
  grader: 'exact',
  answer: `right ${index}`,
  source: index < 16 ? 'MATH-500' : 'AIME',
  level: String(index % 2),
}));

const plan = {
  steps: [
    { worker: 'a', subtask: 'Do it.', sees: [] },
    { worker: 'b', subtask: 'Check.', sees: [0] },
  ],
};

const records = QUESTIONS.flatMap(({ id }, index) => [
  aRecord('conductor', index, {
    question: id,
    plan,
    workers: index < 16 ? { a: 2 } : { a: 1, b: 1 },
    verdict: index < 12 ? 'correct' : index === 23 ? 'ungraded' : 'wrong',
    answer: `mine ${index}`,
  }),
  aRecord('worker:a', index, { question: id, verdict: index < 15 && index > 2 ? 'correct' : 'wrong' }),
]);
const EVALUATION = {
  manifest: { methods: ['conductor', 'worker:a'], workers: ['a', 'b'] },
  records,
  questions: QUESTIONS,
};

test('scores with standard errors are broken down by data set and level, and so are steps and workers', () => {
  const [sets, levels, workers, byLevel, ...rest] = breakDown(EVALUATION);
  expect(sets?.rows).toEqual([
    ['data set', 'questions', 'conductor', 'worker:a'],
    ['MATH-500', '16', '0.750 ± 0.112', '0.750 ± 0.112'],
    ['AIME', '8', '0.000 ± 0.000', '0.000 ± 0.000'],
  ]);
  expect(levels?.rows.map(([name]) => name)).toEqual(['level', '0', '1']);
  expect(workers?.rows).toEqual([
    ['conductor, by data set', 'steps', 'a', 'b'],
    ['MATH-500', '2.0', '100 %', '0 %'],
    ['AIME', '2.0', '50 %', '50 %'],
  ]);
  expect(byLevel?.rows).toEqual([
    ['conductor, by level', 'steps', 'a', 'b'],
    ['0', '2.0', '83 %', '17 %'],
    ['1', '2.0', '83 %', '17 %'],
  ]);
  expect(rest).toEqual([]);
  const alike = QUESTIONS.map((question) => ({ ...question, source: 'AIME', level: '1' }));
  expect(breakDown({ ...EVALUATION, questions: alike })).toEqual([]);
});

test('a report turns a table with more methods than groups, so that no row is wider than a screen', () => {
  const manifest = { ...EVALUATION.manifest, methods: ['conductor', 'worker:a', 'worker:b'] };
  const [table = { rows: [], numeric: true }] = breakDown({ ...EVALUATION, manifest });
  expect(downThePage(table).rows).toEqual([
    ['data set', 'MATH-500', 'AIME'],
    ['questions', '16', '8'],
    ['conductor', '0.750 ± 0.112', '0.000 ± 0.000'],
    ['worker:a', '0.750 ± 0.112', '0.000 ± 0.000'],
    ['worker:b', '–', '–'],
  ]);
});

test('ten disagreements are shown in full, wins and losses, whatever text they hold', async () => {
  const store = openStore('sqlite:store.db', await freshFolder());
  const long = `\u202e\`\`\`\`\` </pre><script>alert(1)</script> ${'a long answer. '.repeat(600)}The end.`;
  const answer = await keepText(store, long);
  const changed = records.map((record) => (record.method === 'conductor' ? { ...record, answer } : record));
  const shown = showDisagreements(
    await findDisagreements(store, 'conductor', 'worker:a', { ...EVALUATION, records: changed }),
  );
  // Three wins and three losses.
  const heads = shown.filter((part) => typeof part === 'string' && part.startsWith('Question '));
  expect(heads).toEqual([
    ...['q0', 'q1', 'q2'].map((id) => `Question ${id}: right is conductor alone.`),
    ...['q12', 'q13', 'q14'].map((id) => `Question ${id}: right is worker:a alone.`),
  ]);
  const report = { title: 'One', parts: shown };
  const markdown = renderReportMarkdown(report);
  expect(markdown).toContain('Question 0?\nIt has two lines.');
  expect(markdown).toContain('Right answer: right 0');
  expect(markdown).toContain('1. b, sees [0]: Check.');
  expect(markdown).toContain('The end.');
  expect(markdown).toContain('``````text\n');
  const html = renderHtml(report);
  expect(html).toContain('&lt;/pre&gt;&lt;script&gt;');
  expect(html + markdown).not.toContain('\u202e');
  const flipped = records.map(
    (record) => ({ ...record, verdict: record.method === 'conductor' ? 'correct' : 'wrong' }) as const,
  );
  const all = showDisagreements(
    await findDisagreements(store, 'conductor', 'worker:a', { ...EVALUATION, records: flipped }),
  );
  expect(all.filter((part) => typeof part === 'string' && part.startsWith('Question '))).toHaveLength(10);
});

test('models, temperatures, prompts and versions are listed, and another Conductor prompt has another hash', () => {
  const run = resolveRun(
    parseConfig({
      conductor: { ...CARD, temperature: 0.2, topP: 0.8 },
      workers: [{ id: 'a', ...CARD, temperature: 1 }],
    }),
  );
  const made = madeWith(run);
  const graded = [aRecord('conductor', 0, { graderVersion: 'math/2' })];
  const [table, sentence] = describeSetting(
    { run, workers: ['a'], methods: ['conductor'], madeWith: made },
    graded,
  );
  expect(table).toMatchObject({
    rows: [
      expect.anything(),
      [
        'conductor',
        'gpt-x',
        'openai',
        '0.2',
        "the vendor's",
        'describe: "names", access: "any", topP: 0.8',
        ...Array<unknown>(2).fill(expect.anything()),
      ],
      expect.arrayContaining(['a', '1']),
    ],
  });
  expect(sentence).toMatch(
    /^Made with temporal-conductor \d.* Conductor [0-9a-f]{16}, worker [0-9a-f]{16}\. Graders: math\/2/,
  );
  const other = madeWith({ ...run, conductor: { ...run.conductor, describe: 'ordinals' } });
  expect(other.prompts.conductor).not.toBe(made.prompts.conductor);
  expect(other.prompts.worker).toBe(made.prompts.worker);
});

test('checkpoints that wrote plans are listed with temperature and prompt from their manifests', async () => {
  const store = openStore('sqlite:store.db', await freshFolder());
  await writeManifest(store, aManifest());
  await writeManifest(store, aManifest({ name: '000002', temperature: 0.4, prompt: 'full' }));
  const workers = [{ id: 'a', ...CARD }];
  const run = resolveRun(parseConfig({ conductor: { provider: 'policy' }, workers }));
  const conductors = { frontier: resolveRun(parseConfig({ conductor: CARD, workers })).conductor };
  const [methods, named] = [
    ['conductor', 'conductor:frontier', 'conductor:nightly/000001'],
    'nightly/000001',
  ];
  const evaluation = { run, workers: ['a'], conductors, methods, madeWith: madeWith(run, conductors) };
  const setting = async (...records: readonly MethodRecord[]) => {
    const kept = records.map((record) => methodRecordSchema.parse(record));
    const writers = await readWriters(evaluation, kept, createPolicyProvider(store));
    const [table, ...sentences] = describeSetting(evaluation, kept, writers);
    const rows = table && typeof table === 'object' && 'rows' in table ? table.rows : [];
    const told = rows.map(([role, model, , temperature]) => [role, model, temperature]);
    return {
      rows: told.filter(([role]) => role?.startsWith('conductor')),
      sentences: sentences.filter((part) => typeof part === 'string').join('\n'),
    };
  };
  const frontier = ['conductor:frontier', 'gpt-x', "the vendor's"];
  const byOne = (index: number) => aRecord('conductor', index, { checkpoint: named });

  const one = await setting(byOne(0), byOne(1), aRecord('conductor:frontier', 0));
  expect(one.rows).toEqual([['conductor', named, '0.2'], frontier]);
  expect(one.sentences).toMatch(
    /prompts without a question: conductor:frontier [0-9a-f]{16}, nightly\/000001 [0-9a-f]{16}, worker /,
  );
  expect(one.sentences).not.toContain('wrote the plans');
  expect(one.sentences).not.toContain(evaluation.madeWith.prompts.conductor.slice(0, 16));

  const gone = aRecord('conductor', 2, { checkpoint: 'nightly/000003' });
  const two = aRecord('conductor', 1, { checkpoint: 'nightly/000002' });
  const several = await setting(byOne(0), two, gone, aRecord(`conductor:${named}`, 0, { checkpoint: named }));
  expect(several.rows).toEqual([
    ['conductor', named, '0.2'],
    ['conductor', 'nightly/000002', '0.4'],
    ['conductor', 'nightly/000003', '–'],
    frontier,
    [`conductor:${named}`, named, '0.2'],
  ]);
  expect(several.sentences).toContain(
    '3 checkpoints wrote the plans of conductor, because the serving checkpoint changed',
  );
  const hashes = [...several.sentences.matchAll(/nightly\/00000\d ([0-9a-f]{16}|unknown)/g)].map(
    ([, hash]) => hash,
  );
  expect(hashes).toEqual([expect.anything(), expect.anything(), 'unknown']);
  expect(new Set(hashes).size).toBe(3);

  const older = await setting(aRecord('conductor', 0));
  expect(older.rows).toEqual([['conductor', 'the checkpoint that serves', '–'], frontier]);
});

test('a trained Conductor whose tokens have no price is marked as booked at no cost', () => {
  const price = { input: 0.5, output: 0.5 };
  const conductors = Object.fromEntries(
    Object.entries({ small: {}, priced: { price } }).map(([name, changes]) => {
      const conductor = { provider: 'policy', ...changes } as const;
      return [name, resolveRun(parseConfig({ conductor, workers: [{ id: 'a', ...CARD }] })).conductor];
    }),
  );
  const partsOf = (conductor: ConfigInput['conductor'], method = 'conductor'): string => {
    const run = resolveRun(parseConfig({ conductor, workers: [{ id: 'a', ...CARD }] }));
    return JSON.stringify(describeSetting({ run, workers: ['a'], conductors, methods: [method] }, []));
  };
  const [SMALL, PRICED] = ['conductor:small', 'conductor:priced'];
  const told = 'booked at no cost';
  expect(partsOf({ provider: 'policy' })).toContain(told);
  expect(partsOf({ provider: 'policy' }, 'turns')).toContain(told);
  expect(partsOf(CARD, 'conductor:nightly/000040')).toContain(told);
  expect(partsOf(CARD, SMALL)).toContain(told);
  expect(partsOf(CARD, PRICED)).not.toContain(told);
  expect(partsOf({ provider: 'policy' }, PRICED)).not.toContain(told);
  expect(partsOf({ provider: 'policy', price })).not.toContain(told);
  expect(partsOf({ provider: 'policy', price })).toContain('0.5 in, 0.5 out');
  expect(partsOf(CARD)).not.toContain(told);
  expect(partsOf({ provider: 'policy' }, 'worker:a')).not.toContain(told);
});
