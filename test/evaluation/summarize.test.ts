import { chartsOf, reportOf } from '../../src/evaluation/report';
import { renderReportMarkdown } from '../../src/report/report';
import type { MethodRecord } from '../../src/evaluation/results';
import { summarize, type Summary } from '../../src/evaluation/definitions';
import { aRecord as record, SPENT as spent } from './a-record';

const render = (summary: Summary): string => renderReportMarkdown(reportOf(summary, []));

const planOf = (...workers: readonly string[]) => ({
  steps: workers.map((worker, index) => ({ worker, subtask: '', sees: index === 0 ? [] : [index - 1] })),
});
test('a report counts plans by their graph, and wrong answers by what went wrong', () => {
  const methods = ['conductor', 'worker:b'];
  const manifest = { id: 'e', file: 'f', questions: 5, methods, workers: ['a', 'b'], seed: 1 };
  const summary = summarize(manifest, [
    record('conductor', 0, { plan: planOf('a') }),
    record('conductor', 1, { plan: planOf('a'), rounds: 2, runs: ['e-1'] }),
    record('conductor', 2, { plan: planOf('a', 'b'), verdict: 'correct' }),
    record('conductor', 3, { plan: planOf('a', 'b'), outputs: [['correct', 'wrong']] }),
    record('conductor', 4, { plan: planOf('a'), rounds: 2, outputs: [['correct'], ['wrong']] }),
    record('worker:b', 0, { verdict: 'correct' }),
    record('worker:b', 1),
    record('worker:b', 2),
    // Two solves are two attempts, not a review.
    record('worker:b', 3, { plan: planOf('b'), rounds: 2, runs: ['e-1', 'e-2'] }),
    record('worker:b', 4, { plan: planOf('b'), rounds: 2, runs: ['e-1', 'e-2'], outputs: [['wrong']] }),
  ]);
  expect(summary.methods[0]).toMatchObject({
    topologies: { single: 3, chain: 2 },
    failures: { spoilt: 1, lost: 1, 'wrong worker': 1, 'vain review': 1 },
  });
  const shapes = chartsOf(summary).find(({ file }) => file === 'topology-shares');
  expect(shapes?.option.series).toMatchObject([
    { name: '0:one shot', data: [0.6, 1] },
    { name: '1:a chain', data: [0.4, 0] },
  ]);
  const report = render(summary);
  expect(report).toContain(
    '| conductor | single 3, chain 2 | spoilt 1, lost 1, wrong worker 1, vain review 1 |',
  );
  expect(report).toContain('| worker:b | single 2 | unsolved 2 |');
  expect(report).not.toContain('| worker:b |  |');
});

test('where scores do not differ, a report says which method is much cheaper', () => {
  const methods = ['conductor', 'worker:b'];
  const manifest = { id: 'e', file: 'f', questions: 2, methods, workers: ['b'], seed: 1 };
  const report = (nanoUsd: number): string =>
    render(
      summarize(
        manifest,
        methods.flatMap((method) =>
          [0, 1].map((index) => {
            const own = method === 'conductor' ? nanoUsd : 1_000_000;
            return record(method, index, { verdict: 'correct', spent: { ...spent, nanoUsd: own } });
          }),
        ),
      ),
    );
  expect(report(500_000_000)).toContain(
    'As far as these questions can tell, worker:b is as good as conductor, at 1/500 of the cost.',
  );
  expect(report(1_200_000)).not.toContain('As far as these questions can tell');
});

const METHODS = ['conductor', 'worker:b', 'random'];
const MANIFEST = { id: 'e', file: 'f', questions: 60, methods: METHODS, workers: ['b'], seed: 1 };

/** Returns records of sixty questions: each method is right on 9 questions fewer than the one before it. */
const manyRecords = (tries: number): MethodRecord[] =>
  Array.from({ length: 60 * tries }, (_, index) =>
    METHODS.map((method, place) => {
      const question = index % 60;
      const isRight = question < 50 - 9 * place;
      return record(method, index, { question: `q${question}`, verdict: isRight ? 'correct' : 'wrong' });
    }),
  ).flat();

test('all comparisons are adjusted together, except the one that was named before', () => {
  const [, worker, random] = summarize(MANIFEST, manyRecords(1)).methods;
  expect(worker?.adjustedP).toBe(worker?.comparison?.p);
  expect(random?.adjustedP).toBeCloseTo(2 * (random?.comparison?.p ?? NaN), 9);
  const named = summarize({ ...MANIFEST, primary: 'worker:b' }, manyRecords(1));
  expect(named.methods.map(({ adjustedP }) => adjustedP)).toEqual([null, null, random?.comparison?.p]);
  expect(render(named)).toContain(
    'worker:b against conductor, the primary comparison, named before the run: −0.150',
  );
  const alone = { ...MANIFEST, methods: METHODS.slice(0, 2) };
  const two = summarize(
    alone,
    manyRecords(1).filter(({ method }) => method !== 'random'),
  );
  expect(two.methods.map(({ adjustedP }) => adjustedP)).toEqual([null, null]);
});

test('tries of one question count as one question in score, standard error and pairs', () => {
  const { methods } = summarize({ ...MANIFEST, questions: 180, repeats: 3 }, manyRecords(3));
  const [once] = summarize(MANIFEST, manyRecords(1)).methods;
  expect(methods[0]).toMatchObject({ questions: 180, score: once?.score });
  expect(methods[0]?.standardError).toBeCloseTo(Math.sqrt(((50 / 60) * (10 / 60)) / 59), 6);
  expect(methods[1]?.comparison).toMatchObject({ pairs: 60 });
  const report = render(summarize({ ...MANIFEST, questions: 180, repeats: 3 }, manyRecords(3)));
  expect(report).toContain('180 of 180 tries, 3 of each question');
  expect(report).toContain('| s.e. |');
  expect(report).toContain('pass@1');
});

test('a second line counts unjudged answers as wrong, and degraded runs are counted', () => {
  const records = manyRecords(1).map((each) =>
    each.method === 'worker:b' && each.index < 6
      ? { ...each, verdict: 'ungraded' as const, degraded: true }
      : each,
  );
  const summary = summarize(MANIFEST, records);
  expect(summary.methods[1]).toMatchObject({ score: 35 / 54, strict: { score: 35 / 60 } });
  expect(summary.methods[0]?.strict).toBeNull();
  const report = render(summary);
  expect(report).toMatch(/\| worker:b \| 0\.648 .*\n\| worker:b, unjudged as wrong \| 0\.583 /);
  expect(report).not.toContain('conductor, unjudged');
  expect(report).toContain('worker:b: 6 of 60 runs were degraded');
});

test('a method that stopped short of equal cost says so, with both costs', () => {
  const methods = ['conductor', 'vote:b', 'best-of:b'];
  const manifest = { id: 'e', file: 'f', questions: 2, methods, workers: ['b'], seed: 1 };
  const costing = (calls: number, usd: number) => ({ spent: { ...spent, calls, nanoUsd: usd * 1e9 } });
  const summary = summarize(manifest, [
    record('conductor', 0, costing(4, 0.1)),
    record('conductor', 1, costing(4, 0.1)),
    record('vote:b', 0, costing(200, 0.03)),
    record('vote:b', 1, costing(200, 0.1)),
    record('best-of:b', 0, costing(20, 0.08)),
    record('best-of:b', 1, costing(20, 0.08)),
  ]);
  expect(summary.methods.map(({ capped }) => capped)).toEqual([0, 1, 0]);
  expect(render(summary).match(/.* is not at equal cost .*/g)).toEqual([
    expect.stringMatching(/^vote:b .* 1 question, where it stopped at 200 attempts.*\$0\.0650.*\$0\.1000/),
  ]);
});

test('for the log, a report says what is unknown: prices, quality, and what could not be drawn', () => {
  const log = { answered: 9, unanswered: 3, known: 1 };
  const methods = ['conductor', 'worker:b'];
  const manifest = { id: 'e', file: 'the log', questions: 2, methods, seed: 1, log };
  const ungraded = { verdict: 'ungraded' } as const;
  const preference = { over: 'conductor', outcome: 'won', reason: '' } as const;
  const judging = { ...spent, nanoUsd: 2e9 };
  const logged = [record('conductor', 0), record('conductor', 1, ungraded)];
  const alone = [record('worker:b', 0), record('worker:b', 1, { ...ungraded, judging, preference })];
  const summaryOf = (records: readonly MethodRecord[]) => summarize({ ...manifest, workers: ['b'] }, records);

  const judged = render(summaryOf([...logged, ...alone]));
  expect(judged).toContain('2 questions of 2, seed 1, $2.00 in all.');
  expect(judged).toContain(
    '9 solves in the log that have an answer; 3 ended without one and cannot be drawn',
  );
  expect(judged).toContain(
    'the Conductor cost $0.00 more (with 95 % confidence just that), 1.0 times as much',
  );
  expect(judged).toContain('Where the right answer is known: worker:b against conductor, 1 question: +0.000');
  expect(judged).toContain('conductor 0 times, that of worker:b once, and neither 0 times: p 1.000');
  expect(judged).not.toMatch(/was not judged|could not be judged/);

  const unpriced = { spent: { ...spent, nanoUsd: null }, preference: undefined };
  const unknown = render(summaryOf([...logged, ...alone.map((each) => ({ ...each, ...unpriced }))]));
  expect(unknown).toContain('what both cost cannot be compared, since a price is unknown');
  expect(unknown).toContain('Quality was not judged on 1 question:');
});
