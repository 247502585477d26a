import type { ListedRun } from '../../../src';
import { renderList } from '../../../src/cli/solve/runs';
import { PLAIN, widthOf } from '../../../src/trace/lines';

const NOW = Date.parse('2026-11-22T10:00:00.000Z');

function aRun(changes: Partial<ListedRun> = {}): ListedRun {
  return {
    id: 'solve-what-is-the-capital-of-france-7kq2m9xw',
    runId: 'run-1',
    status: 'completed',
    waitsFor: null,
    hasWorker: null,
    question: 'What is the capital of France?',
    problems: [],
    workers: ['alpha'],
    costUsd: 0.0123,
    costIsLowerBound: false,
    startedAt: '2026-11-22T09:57:00.000Z',
    endedAt: '2026-11-22T09:58:00.000Z',
    ...changes,
  };
}

function lines(runs: ListedRun[], columns?: number): string[] {
  return renderList({ runs, unlisted: 0, earlier: null }, { paint: PLAIN, columns, now: NOW }).split('\n');
}

test.each([
  ['running', { hasWorker: true }, '▸', 'running'],
  ['running without a worker', { hasWorker: false }, '·', 'unfinished'],
  ['waiting', { hasWorker: true, waitsFor: 'approval' }, '·', 'waits for approval'],
] as const)('a run that is %s', (_, changes, mark, state) => {
  expect(lines([aRun({ status: 'running', endedAt: null, ...changes })], 120)).toEqual([
    `${mark} solve-what-is-the-capital-of-france-7kq2m9xw  ${state} · $0.0123 · 3 min ago`,
    '  What is the capital of France?',
  ]);
});

test('why a run failed or is degraded is shown in full below its question', () => {
  const problem = `alpha stands in for the Conductor: ${'the Conductor did not answer. '.repeat(5)}`.trim();
  const shown = lines([aRun({ problems: [problem] }), aRun({ status: 'failed', problems: ['No.'] })], 60);
  expect(shown[0]).toContain('solve-what-is-the-capital-of-france-7kq2m9xw');
  expect(shown.join(' ').replace(/\s+/g, ' ')).toContain(`completed, degraded · $0.0123`);
  expect(shown.join(' ').replace(/\s+/g, ' ')).toContain(`capital of France? ${problem} ✗ solve`);
  expect(shown.at(-1)).toBe('  No.');
});

test('an unknown cost and an unreadable question are shown as such', () => {
  const shown = lines([
    aRun({ status: 'failed', costIsLowerBound: true }),
    aRun({ question: null, costUsd: null, problems: ['The disk is full.'] }),
  ]);
  expect(shown[0]).toContain(
    '✗ solve-what-is-the-capital-of-france-7kq2m9xw  failed · at least $0.0123 · took 1 min 0 s · 3 min ago',
  );
  expect(shown[2]).toContain('completed · cost unknown');
  expect(shown.slice(3)).toEqual(['  cannot be read here:', '  The disk is full.']);
});

test.each([60, 80, 120, undefined])('in %p columns, only the question is shortened', (columns) => {
  const id = `solve-${'words-of-the-question-'.repeat(4)}7kq2m9xw`;
  const shown = lines([aRun({ id, question: 'Why? '.repeat(50), costIsLowerBound: true })], columns);
  for (const line of shown) expect(widthOf(line)).toBeLessThanOrEqual(columns ?? 160);
  expect(shown.join('').replace(/\s+/g, '')).toMatch(
    new RegExp(`^✓${id}completed·atleast\\$0\\.0123·took1min0s·3minagoWhy.*…$`),
  );
});
