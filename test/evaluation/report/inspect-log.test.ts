import { type EvaluatedQuestion, summarize } from '../../../src/evaluation/definitions';
import { toInspectLog } from '../../../src/evaluation/report/inspect-log';
import { openStore } from '../../../src/store/open-store';
import { resolveRun } from '../../../src/config/resolve-run';
import { parseConfig } from '../../../src/config/load';
import { keepText } from '../../../src/store/texts';
import { freshFolder } from '../../local/fresh-folder';
import { aRecord } from '../a-record';
import { CARD } from './a-card';

// `read_eval_log` of inspect_ai 0.3.285 read such a log; it is not run here, because it needs a Python of its own.
test('a log for Inspect has a sample for each try, with its full answer and its verdict', async () => {
  const store = openStore('sqlite:store.db', await freshFolder());
  const questions = Array.from({ length: 4 }, (_, index): EvaluatedQuestion => {
    const row = {
      id: `q${index % 2}`,
      question: `Question ${index % 2}`,
      grader: 'exact',
      answer: 'x',
    } as const;
    return index < 2 ? row : { ...row, repeat: 1 };
  });
  const answer = await keepText(store, 'a long answer '.repeat(1000));
  const verdicts = ['correct', 'wrong', 'unparseable', 'ungraded'] as const;
  const records = questions.map(({ id }, index) =>
    aRecord('worker:a', index, { question: id, verdict: verdicts[index] ?? 'wrong', answer, extracted: 'y' }),
  );
  const manifest = {
    schema: 1,
    id: 'eval-1',
    file: 'f.jsonl',
    set: '',
    questions: 4,
    repeats: 2,
    methods: ['worker:a'],
    workers: ['a'],
    seed: 1,
    startedAt: '2026-11-26T01:02:03.004Z',
    run: resolveRun(parseConfig({ conductor: CARD, workers: [{ id: 'a', ...CARD }] })),
  } as const;
  const changeable = { ...manifest, methods: [...manifest.methods], workers: [...manifest.workers] };
  const [method] = summarize(changeable, records).methods;
  if (method === undefined) throw new Error('one method was tried');
  const { file, log } = await toInspectLog(store, { manifest: changeable, records, questions }, method);
  expect(file).toMatch(/^2026-11-26T01-02-03-004Z_worker-a_[0-9a-f]{22}\.json$/);
  const sample = { id: 'q0', target: 'x', input: 'Question 0' };
  expect(log).toMatchObject({
    version: 2,
    status: 'success',
    eval: {
      task: 'f.jsonl',
      model: 'temporal-conductor/worker:a',
      config: { epochs: 2 },
      dataset: { samples: 2 },
    },
    results: { scores: [{ metrics: { accuracy: { value: 0.25 } } }] },
    samples: [
      { ...sample, epoch: 1, scores: { grade: { value: 'C', answer: 'y' } } },
      { id: 'q1', epoch: 1, scores: { grade: { value: 'I' } } },
      { ...sample, epoch: 2, scores: { grade: { value: 'I' } } },
      { id: 'q1', epoch: 2, scores: {} },
    ],
  });
  const { samples } = log as { samples: { output: { choices: { message: { content: string } }[] } }[] };
  expect(samples[0]?.output.choices[0]?.message.content).toHaveLength(14_000);
});
