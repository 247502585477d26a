import { describeChanges, drawFrame } from '../../src/cli/kit/view/run-view';
import type { SolveResult } from '../../src';
import { whyDegraded } from '../../src/trace/describe';
import { PLAIN, widthOf } from '../../src/trace/lines';
import { renderTraceMarkdown } from '../../src/trace/markdown';
import { renderMermaid } from '../../src/trace/mermaid';
import { renderTree } from '../../src/trace/tree';
import { at, sampleCall, sampleRound, sampleStep, sampleTrace } from './sample-trace';

const LOCKED = { type: 'Provider.Refused', message: 'the Conductor (openai boss)\ndeclined.' };
const NO_PLAN = { type: 'Plan.Invalid', message: 'The reply holds no list of workers' };
const REFUSED = { type: 'Provider.Refused', message: 'worker gpt declined.' };

/** A run in which a worker answered for the Conductor, as fallback of one that declined, and the review failed. */
function degradedTrace(changes: Partial<SolveResult> = {}): SolveResult {
  const step = sampleStep(0, {
    worker: 'haiku',
    fallbackFor: 'gpt',
    output: 'Paris.',
    endedAt: at(4),
    skipped: [{ worker: 'gpt', error: REFUSED }],
  });
  const review = { round: 1, depth: 1, childId: 'solve-1-review', plan: null, decision: 'failed' as const };
  const plan = { step: null, worker: 'conductor', model: 'boss' };
  return sampleTrace({
    status: 'completed',
    rounds: [sampleRound([step], { error: NO_PLAN }), sampleRound([], { ...review, error: LOCKED })],
    calls: [
      sampleCall({ ...plan, purpose: 'plan', error: { ...NO_PLAN, message: 'The reply is empty' } }),
      sampleCall({ ...plan, purpose: 'repair', error: NO_PLAN }),
      sampleCall({ ...plan, purpose: 'repair', error: NO_PLAN }),
      sampleCall({ error: REFUSED }),
      sampleCall({ worker: 'haiku' }),
    ],
    ...changes,
  });
}

const REASONS = [
  'haiku stands in for the Conductor: The reply holds no list of workers',
  'step 1: haiku stands in for gpt: worker gpt declined.',
  'round 2 › the review failed, so the answer before it stands: the Conductor (openai boss) declined.',
];

test('each permanent failure is a reason, in one line with its place', () => {
  expect(whyDegraded(degradedTrace())).toEqual(REASONS);
  expect(whyDegraded(sampleTrace())).toEqual([
    'step 2: haiku stands in for sonnet',
    'step 2 (haiku) failed: worker haiku declined.',
  ]);
  expect(whyDegraded(degradedTrace({ degraded: false }))).toEqual([]);
});

test('the live view shows who stands in and why, uncut on a narrow terminal; a log says it once', () => {
  const options = { paint: PLAIN, columns: 60, now: Date.parse(at(6)), spinner: '*' };
  const frame = drawFrame(degradedTrace(), [], options);
  for (const line of frame) expect(widthOf(line)).toBeLessThanOrEqual(60);
  const shown = frame.join(' ').replace(/\s+/g, ' ');
  for (const reason of REASONS) expect(shown).toContain(`degraded: ${reason}`);
  expect(shown).toContain('completed, degraded · 5 calls');

  const told = describeChanges(null, degradedTrace());
  expect(told).toEqual(expect.arrayContaining(REASONS.map((reason) => `degraded: ${reason}`)));
  expect(describeChanges(degradedTrace(), degradedTrace())).toEqual([]);
});

test('the tree shows the reasons, and each rejected reply with its mistake', () => {
  const lines = renderTree(degradedTrace()).split('\n');
  expect(lines).toEqual(expect.arrayContaining(REASONS.map((reason) => `│  degraded ${reason}`)));
  const tree = lines.join('\n');
  expect(tree).toContain('attempt 1 Plan.Invalid The reply is empty\n');
  expect(tree).toContain('attempt 2-3 Plan.Invalid The reply holds no list of workers\n');
  // Its call reports it already, so it is not listed again as passed over.
  expect(tree.match(/Provider\.Refused worker gpt declined/g)).toHaveLength(1);
  expect(tree).not.toContain('passed over');
});

test("Temporal's page shows the reasons, and the flowchart shows them at their step", () => {
  const page = renderTraceMarkdown(degradedTrace());
  for (const reason of REASONS) expect(page).toContain(`**Degraded**: ${reason}`);
  expect(renderMermaid(degradedTrace())).toContain('Task 1<br/>The reply holds no list of workers"]:::done');
});
