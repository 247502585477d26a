import { describeProgress } from '../../../src/cli/evaluate/evaluate';
import { showSummary } from '../../../src/evaluation/report';
import { summarize, type Summary } from '../../../src/evaluation/definitions';
import { widthOf, wrapFacts } from '../../../src/trace/lines';
import { aRecord } from '../../evaluation/a-record';

const METHODS = ['conductor', 'worker:scholar', `worker:${'long-'.repeat(15)}`];

const record = (method: string, index: number) =>
  aRecord(method, index, {
    verdict: index < 3 ? 'correct' : 'wrong',
    spent: { calls: 4, inputTokens: 1_500, outputTokens: 124, nanoUsd: 5_100_000 },
    latencyMs: 1_600,
  });

const summary: Summary = summarize(
  { id: 'e', file: 'f.jsonl', questions: 4, methods: METHODS, workers: ['scholar'], seed: 1 },
  METHODS.flatMap((method) => [0, 1, 2, 3].map((index) => record(method, index))),
);

test('a table that is too wide for a terminal becomes a paragraph for each method, and loses nothing', () => {
  const wide = showSummary(summary, undefined);
  expect(wide.split('\n')[0]).toMatch(/^method +score +95 % interval/);
  expect(showSummary(summary, 220).split('\n')[0]).toBe(wide.split('\n')[0]);
  const narrow = showSummary(summary, 60);
  for (const line of narrow.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(60);
  expect(narrow).toMatch(/^conductor\n {2}score 0\.750 · 95 % interval 0\.301–0\.954 · USD \$0\.0051/);
  expect(narrow.replaceAll('\n', ' ')).toMatch(/worker:scholar {3}score .* not judged 0/);
  const words = (text: string): string[] => text.split(/\s+/).filter((word) => !/^[·–]?$/.test(word));
  const cells = words(wide.slice(wide.indexOf('\n'))).filter((word) => !word.includes('long-'));
  for (const cell of cells) expect(words(narrow)).toContain(cell);
});

test('progress wraps between its facts', () => {
  const scores = METHODS.map(() => ({ correct: 1, graded: 2 }));
  const progress = { begun: 3, done: 2, spentNanoUsd: 5e6, startedAt: 0, scores, stoppedBy: null };
  const lines = wrapFacts(describeProgress({ questions: 4, methods: METHODS }, progress, 8_000), 60);
  expect(lines.slice(0, 2)).toEqual([
    '2 of 4 questions · $0.0050 · about 8 s left · conductor 0.50',
    'worker:scholar 0.50',
  ]);
  for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(60);
});
