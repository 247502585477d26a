import { renderReport } from '../../../src/evaluation/cli/report';
import type { Manifest, MethodRecord } from '../../../src/evaluation/records';
import { summarize } from '../../../src/evaluation/summarize';

const spent = { calls: 1, inputTokens: 1, outputTokens: 1, nanoUsd: 1 };
const planOf = (...workers: readonly string[]) => ({
  steps: workers.map((worker, index) => ({ worker, subtask: '', sees: index === 0 ? [] : [index - 1] })),
});
const record = (method: string, index: number, changes: Partial<MethodRecord> = {}): MethodRecord => ({
  evaluation: 'e',
  method,
  question: `q${index}`,
  index,
  topic: null,
  verdict: 'wrong',
  extracted: null,
  reason: '',
  graderVersion: null,
  answer: 'x',
  runs: [],
  spent,
  lost: 0,
  planning: spent,
  latencyMs: 1,
  workers: {},
  plan: null,
  rounds: 1,
  degraded: false,
  stoppedBy: null,
  ...changes,
});

test('a report tells plans by their graph and wrong answers by what went wrong, workers alone asked for it', () => {
  const manifest: Manifest = {
    schema: 1,
    id: 'e',
    file: 'f',
    set: 's',
    questions: 5,
    methods: ['conductor', 'worker:b'],
    workers: ['a', 'b'],
    seed: 1,
    startedAt: '',
  };
  const summary = summarize(manifest, [
    record('conductor', 0, { plan: planOf('a') }),
    record('conductor', 1, { plan: planOf('a'), rounds: 2, runs: ['e-1'] }),
    record('conductor', 2, { plan: planOf('a', 'b'), verdict: 'correct' }),
    record('conductor', 3, { plan: planOf('a', 'b'), outputs: [['correct', 'wrong']] }),
    record('conductor', 4, { plan: planOf('a'), rounds: 2, outputs: [['correct'], ['wrong']] }),
    record('worker:b', 0, { verdict: 'correct' }),
    record('worker:b', 1),
    record('worker:b', 2),
    // Two solves are two attempts, and no review.
    record('worker:b', 3, { plan: planOf('b'), rounds: 2, runs: ['e-1', 'e-2'] }),
    record('worker:b', 4, {
      plan: planOf('b'),
      rounds: 2,
      runs: ['e-1', 'e-2'],
      outputs: [['wrong', 'wrong']],
    }),
  ]);
  expect(summary.methods[0]).toMatchObject({
    topologies: { single: 3, chain: 2 },
    failures: { spoilt: 1, lost: 1, 'wrong worker': 1, 'vain review': 1 },
  });
  const report = renderReport(summary, []);
  expect(report).toContain(
    '| conductor | single 3, chain 2 | spoilt 1, lost 1, wrong worker 1, vain review 1 |',
  );
  expect(report).toContain('| worker:b | single 2 | unsolved 2 |');
  expect(report).not.toContain('| worker:b |  |');
});
