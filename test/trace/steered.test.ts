import type { Steered } from '../../src/protocol/solve';
import { renderTraceMarkdown } from '../../src/trace/markdown';
import { emptyTrace } from '../../src/trace/reduce';
import { describeSteered } from '../../src/trace/steered';

const at = '2026-11-22T10:00:00.000Z';

test.each<readonly [Steered, string]>([
  [{ kind: 'hint', at, by: 'ada', text: 'Mind the units.' }, 'hint from ada: Mind the units.'],
  [{ kind: 'limits', at, limits: { depth: 2, costUsd: null } }, 'limits set: depth 2, cost none'],
  [
    {
      kind: 'limits',
      at,
      limits: { costUsd: 0.0001, tokens: 5, calls: 3 },
      held: { costUsd: 0.0132, tokens: null },
    },
    'limits set: cost $0.0001 (held: $0.0132), tokens 5 (held: none), calls 3',
  ],
  [{ kind: 'rejected', at, by: 'ada', text: 'too dear' }, 'plan rejected by ada: too dear'],
  [{ kind: 'approved', at }, 'plan approved'],
])('%j', (message, words) => {
  expect(describeSteered(message)).toBe(words);
});

test('a hint of several lines stays one quote on a page of Markdown', () => {
  const trace = emptyTrace({ id: 'run', runId: 'r', question: 'Why?' });
  const text = 'Mind this.\n\n### Answer\n\nAll is well.';
  const page = renderTraceMarkdown({ ...trace, steered: [{ kind: 'hint', at, text }] });
  expect(page).toContain('> ### Answer');
  expect(page).not.toMatch(/^### Answer/m);
});
