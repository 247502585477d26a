import { PLAIN, widthOf } from '../../src/trace/lines';
import { renderTree } from '../../src/trace/tree';
import { sampleFamily, sampleWaiting } from './sample-family';
import { at, sampleRound, sampleToolCall, sampleTrace, sampleTurns, withStep } from './sample-trace';

describe('the tree of a run', () => {
  test('shows who did what in which wave, what they saw, what it cost and what came of it', () => {
    expect(renderTree(sampleTrace()).split('\n')).toEqual([
      'solve-1  running · degraded · 5 calls, 30 tokens · at least $0.0025',
      '│  What is the capital of France?',
      '│  degraded step 2: haiku stands in for sonnet',
      '└─ Round 1',
      '   ├─ Conductor  boss · 3 steps · attempts and an aggregator · 1 call, 15 tokens · $0.0010',
      '   ├─ Wave 1',
      '   │  ├─ ✓ 1 gpt  gpt-6 · 3.0 s · 1 call, 15 tokens · $0.0015',
      '   │  │     subtask Find the capital',
      '   │  │     output Paris.',
      '   │  └─ ✗ 2 haiku for sonnet  gpt-6 · 2.0 s · 3 calls, 0 tokens · at least $0.00',
      '   │        subtask Check it',
      '   │        attempt 1-2 Provider.Unavailable worker haiku answered 529.',
      '   │        error worker haiku declined.',
      '   └─ Wave 2',
      '      └─ · 3 gpt  sees 1, 2',
      '            subtask Combine',
    ]);
  });

  test('reports a charge that is implausibly low', () => {
    const [call, ...calls] = sampleTrace().calls.map((each) => ({ ...each, reportedNanoUsd: 200_000 }));
    expect(renderTree(sampleTrace({ calls: call ? [call, ...calls.slice(1)] : [] }))).toContain(
      'cost $0.0010 by its price; the provider reports $0.0002, less than half of it',
    );
  });

  test('ends with the error if there is no answer, and names the limit that stopped the run', () => {
    const error = { type: 'Solve.NoAnswer', message: 'no step gave an answer' };
    const tree = renderTree(sampleTrace({ status: 'failed', stoppedBy: 'wallClock', error }));
    expect(tree).toContain('failed · degraded · stopped by wallClock');
    expect(tree).toMatch(/└─ Error Solve\.NoAnswer\n {6}no step gave an answer$/);
  });

  test.each([60, 80, 120, 160])('in %i columns, no id, figure or reason is cut', (columns) => {
    const id = `solve-${'words-of-the-question-'.repeat(3)}7kq2m9xw`;
    const estimate = { calls: 128, tokens: 1_234_567, nanoUsd: 12_345_600_000, ownSteps: 2 };
    const error = { type: 'Solve.NoAnswer', message: `${'long '.repeat(40)}reason` };
    const failed = sampleTrace({ id, estimate, error, status: 'failed', stoppedBy: 'cost' });
    const running = renderTree(sampleTrace({ id, estimate, status: 'running' }), { columns });
    const tree = `${renderTree(withStep(failed, 1, { error }), { columns })}\n${running}`;
    for (const line of tree.split('\n')) expect(widthOf(line)).toBeLessThanOrEqual(columns);
    const shown = tree.replace(/[\s│├└─]/g, '');
    for (const fact of [`${id}failed`, '128calls,1,234,567tokens,$12.35', 'itsownsteps', 'longlongreason']) {
      expect(shown).toContain(fact);
    }
    expect(shown).toContain(`"temporal-conductorretry${id}--fromSTEP--max-costUSD"thengoesonfromastep.`);
  });

  test('marks an output kept from an earlier run', () => {
    const kept = withStep(sampleTrace({ calls: [] }), 0, { startedAt: null, endedAt: null });
    expect(renderTree(kept)).toContain('✓ 1 gpt  gpt-6 · kept\n');
  });

  test('shows the calls of tools below their step, each in one line, and why one failed in full', () => {
    const reason = `The outcome of this call is unknown: ${'long '.repeat(20)}reason.`;
    const lost = sampleToolCall({
      name: 'shelf__order',
      arguments: '{}',
      outcome: 'unknown',
      output: reason,
    });
    const unmade = sampleToolCall({ outcome: null, output: null, startedAt: null, endedAt: null });
    const turns = sampleTurns(
      'gpt',
      [sampleToolCall({ arguments: `{"word":"${'x'.repeat(300)}"}` }), lost],
      [unmade],
    );
    const lines = renderTree(withStep(sampleTrace(), 0, { turns }), { columns: 100 }).split('\n');
    const from = lines.findIndex((line) => line.includes('called'));
    expect(lines.slice(from, from + 5)).toEqual([
      '   │  │     called shelf__look_up {"word":"xxxxxxxxxxxxxxx… → ok in 41 ms: The Danube rises at Dona…',
      '   │  │     called shelf__order {} → unknown in 41 ms: The outcome of this call is unknown: long',
      '   │  │     long long long long long long long long long long long long long long long long long',
      '   │  │     long long reason.',
      '   │  │     called shelf__look_up {"word":"The Danube"} → not called',
    ]);
    const approval = { id: '1.gpt.1.1', decision: 'approved' as const, at: at(1), by: 'ada' };
    const decided = [sampleToolCall({ approval }), { ...unmade, approval: { ...approval, decision: null } }];
    const asked = renderTree(withStep(sampleTrace(), 0, { turns: sampleTurns('gpt', decided) }));
    expect(asked).toContain('→ ok in 41 ms, approved by ada: The Danube rises');
    expect(asked).toContain('→ waits for approval\n');
    // A fallback's step has the calls of the worker before it, too.
    const before = sampleTurns('sonnet', [sampleToolCall()]);
    expect(renderTree(withStep(sampleTrace(), 1, { turns: before }))).toContain(
      'sonnet called shelf__look_up',
    );
  });

  test('paints symbols by their meaning', () => {
    const paint = { ...PLAIN, good: (text: string) => `<good>${text}</good>` };
    expect(renderTree(sampleTrace(), { paint })).toContain('<good>✓</good> 1 gpt');
  });
});

describe('the tree of a run with children', () => {
  test('names the checkpoint that planned it, if there was one', () => {
    expect(renderTree(sampleFamily())).not.toContain('checkpoint');
    expect(renderTree(sampleFamily({ checkpoint: 'nightly/000040' }))).toContain('checkpoint nightly/000040');
  });

  test('shows the estimate of the plan only while the actual cost is unknown', () => {
    const estimated = 'plan at most 12 calls, 40,000 tokens, $0.1200';
    expect(renderTree(sampleFamily({ status: 'running' }))).toContain(estimated);
    expect(renderTree(sampleFamily())).not.toContain('at most');
  });

  test('draws a child below its step, with its cost, and reviews as further rounds', () => {
    expect(renderTree(sampleFamily()).split('\n')).toEqual([
      'solve-1  completed · 8 calls, 120 tokens · $0.0080',
      '│  What is the capital of France?',
      '├─ Round 1 · revised',
      '│  ├─ Conductor  boss · 2 steps · a recursion · 1 call, 15 tokens · $0.0010',
      '│  └─ Wave 1',
      '│     ├─ ✓ 1 gpt  gpt-6 · 3.0 s · 1 call, 15 tokens · $0.0010',
      '│     │     subtask Task 1',
      '│     │     output Paris.',
      '│     └─ ✓ 2 conductor  3.0 s · 3 calls, 45 tokens · $0.0030',
      '│        │  subtask Task 2',
      '│        │  output Yes.',
      '│        └─ Round 1 · depth 1 · accepted',
      '│           ├─ Conductor  boss · 2 steps · independent steps · 1 call, 15 tokens · $0.0010',
      '│           ├─ Wave 1',
      '│           │  └─ ✓ 1 gpt  gpt-6 · 3.0 s · 1 call, 15 tokens · $0.0010',
      '│           │        subtask Task 1',
      '│           │        output Certainly.',
      '│           └─ Wave 2',
      '│              └─ ✓ 2 gpt  gpt-6 · 3.0 s · 1 call, 15 tokens · $0.0010',
      '│                    subtask Task 2',
      '│                    output Yes.',
      '├─ Round 2 · review · depth 1 · accepted',
      '│  ├─ Conductor  boss · 1 step · 1 call, 15 tokens · $0.0010',
      '│  └─ Wave 1',
      '│     └─ ✓ 1 gpt  gpt-6 · 3.0 s · 1 call, 15 tokens · $0.0010',
      '│           subtask Task 1',
      '│           output Paris, of course.',
      '├─ Round 3 · review · depth 2 · accepted',
      '│  └─ Conductor  boss · accepts the answer · 1 call, 15 tokens · $0.0010',
      '└─ Answer',
      '      Paris, of course.',
    ]);
  });

  test('never grows wider than its terminal, however deep it is', () => {
    const output = 'Because. '.repeat(100);
    const { rounds } = sampleFamily();
    const deep = rounds.map((round) => ({
      ...round,
      steps: round.steps.map((step) => ({ ...step, output })),
    }));
    const lines = renderTree(sampleFamily({ rounds: deep }), { columns: 50 }).split('\n');
    expect(Math.max(...lines.map(widthOf))).toBe(50);
  });

  test('shows a failed review', () => {
    const [own] = sampleFamily().rounds;
    const place = { round: 1, depth: 1, childId: 'solve-1-review' };
    const review = sampleRound([], { ...place, plan: null, decision: 'failed' });
    const tree = renderTree(sampleFamily({ rounds: own === undefined ? [] : [own, review] }));
    expect(tree).toMatch(/Round 2 · review · depth 1 · failed\n│ {2}└─ Conductor {2}boss · no plan/);
  });

  test('says how to approve a plan that waits for a person', () => {
    const lines = renderTree(sampleWaiting()).split('\n');
    expect(lines[0]).toContain('running · waits for approval');
    expect(lines.slice(3, 5)).toEqual([
      '│  asks about its plan',
      '│  to decide: temporal-conductor approve solve-1 [--edit FILE | --reject REASON]',
    ]);
  });

  test('says which limit stopped the run, why so early, and what to do', () => {
    const tree = renderTree(sampleFamily({ stoppedBy: 'cost' }), { columns: 300 });
    const why = '├─ The run was stopped by its limit on cost.\n│     A call starts only if its worst case';
    expect(tree).toContain(why);
    expect(tree).toMatch(
      /Raise limits\.costUsd .*temporal-conductor retry solve-1 --from STEP --max-cost USD/,
    );
    const early = renderTree(sampleFamily({ stoppedBy: 'cost', rounds: [] }), { columns: 300 });
    expect(early).not.toContain('retry');
  });
});
