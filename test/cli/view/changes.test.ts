import { describeChanges } from '../../../src/cli/kit/view/run-view';
import { sampleFamily, sampleFamilyAtWork, sampleWaiting } from '../../trace/sample-family';
import { at, sampleToolCall, sampleTrace, sampleTurns, withStep } from '../../trace/sample-trace';

describe('a run in plain lines', () => {
  test('the first look reports everything so far', () => {
    expect(describeChanges(null, sampleTrace())).toEqual([
      'solve-1: What is the capital of France?',
      'the Conductor is writing a plan',
      'plan: 3 steps in 2 waves',
      '  step 1 (gpt): Find the capital',
      '  step 2 (sonnet): Check it',
      '  step 3 (gpt, sees 1, 2): Combine',
      'step 1 (gpt) done in 3.0 s: Paris.',
      'step 2 (haiku for sonnet) failed in 2.0 s: worker haiku declined.',
      'degraded: step 2: haiku stands in for sonnet',
    ]);
  });

  test('a given plan is reported as given, not as written by the Conductor', () => {
    const { rounds, ...trace } = sampleTrace();
    const configured = rounds.map((round) => ({ ...round, plan: null, steps: [], isGiven: true as const }));
    expect(describeChanges(null, { ...trace, rounds: configured })).toEqual([
      'solve-1: What is the capital of France?',
      'the plan was given, so nobody writes it',
    ]);
  });

  test('a later look reports only what is new', () => {
    const before = sampleTrace();
    const started = withStep(before, 2, { startedAt: at(5) });
    const answered = withStep(started, 2, { output: 'Paris', endedAt: at(6) });
    const after = { ...answered, status: 'completed' as const, degraded: false };
    expect(describeChanges(before, before)).toEqual([]);
    expect(describeChanges(before, started)).toEqual(['step 3 (gpt) started']);
    expect(describeChanges(started, after)).toEqual([
      'step 3 (gpt) done in 1.0 s: Paris',
      'completed · 5 calls, 30 tokens · at least $0.0025',
    ]);
  });

  test('each call of a tool is reported as it begins and as it ends, also one that is like another', () => {
    const begun = sampleToolCall({ output: null, outcome: null, endedAt: null });
    const waiting = { ...begun, startedAt: null };
    const running = { startedAt: at(1), output: null, endedAt: null };
    const states = [
      [begun, waiting],
      [sampleToolCall(), waiting],
      [sampleToolCall(), sampleToolCall()],
    ].map((calls) => withStep(sampleTrace(), 0, { ...running, turns: sampleTurns('gpt', calls) }));
    const [first = sampleTrace(), second = first, third = second] = states;
    const asked = (call: number): string =>
      `step 1 (gpt), call ${call} of a tool: shelf__look_up {"word":"The Danube"}`;
    expect(describeChanges(null, first).slice(-4, -2)).toEqual([
      'step 1 (gpt) started',
      `${asked(1)} → under way`,
    ]);
    expect(describeChanges(first, second)).toEqual([`${asked(1)} → ok: The Danube rises at Donaueschingen.`]);
    expect(describeChanges(second, third)).toEqual([`${asked(2)} → ok: The Danube rises at Donaueschingen.`]);
  });

  test('a fallback that takes over is reported, even if nobody saw the failure before it', () => {
    const asked = { worker: 'sonnet', fallbackFor: null, error: null, output: null };
    const before = withStep(sampleTrace(), 1, asked);
    const after = withStep(before, 1, { worker: 'haiku', fallbackFor: 'sonnet' });
    expect(describeChanges(before, after)).toEqual([
      'step 2 (haiku for sonnet) started',
      'degraded: step 2: haiku stands in for sonnet',
    ]);
  });

  test('children are reported under their step or round, and the estimate of a plan before its steps', () => {
    expect(describeChanges(null, sampleFamilyAtWork())).toEqual([
      'solve-1: What is the capital of France?',
      'the Conductor is writing a plan',
      'plan: 2 steps in 1 wave',
      '  step 1 (gpt): Task 1',
      '  step 2 (conductor): Task 2',
      'the plan comes to at most 12 calls, 40,000 tokens, $0.1200',
      'step 1 (gpt) done in 3.0 s: Paris.',
      'step 2 (conductor) started',
      'step 2 › the Conductor is writing a plan',
      'step 2 › plan: 2 steps in 2 waves',
      'step 2 ›   step 1 (gpt): Task 1',
      'step 2 ›   step 2 (gpt): Task 2',
      'step 2 › step 1 (gpt) done in 3.0 s: Certainly.',
      'step 2 › step 2 (gpt) started',
    ]);
    expect(describeChanges(sampleFamilyAtWork(), sampleFamily())).toEqual([
      'step 2 (conductor) done in 3.0 s: Yes.',
      'step 2 › step 2 (gpt) done in 3.0 s: Yes.',
      'round 2 › the Conductor is reviewing the answer',
      'round 2 › plan: 1 step in 1 wave',
      'round 2 ›   step 1 (gpt): Task 1',
      'round 2 › step 1 (gpt) done in 3.0 s: Paris, of course.',
      'round 3 › the Conductor is reviewing the answer',
      'round 3 › the Conductor accepts the answer',
      'completed · 8 calls, 120 tokens · $0.0080',
    ]);
  });

  test('a waiting plan is reported once, and so is the plan that replaces it', () => {
    const waiting = sampleWaiting();
    expect(describeChanges(null, waiting).at(-1)).toBe(
      'solve-1 waits for approval of its plan: temporal-conductor approve solve-1 [--edit FILE | --reject REASON]',
    );
    const rounds = waiting.rounds.map((round) => ({
      ...round,
      plan: { steps: [{ worker: 'gpt', subtask: 'All of it', sees: [] }] },
      steps: round.steps.slice(0, 1),
    }));
    expect(describeChanges(waiting, { ...waiting, rounds })).toEqual([
      'plan: 1 step in 1 wave',
      '  step 1 (gpt): All of it',
    ]);
  });

  test('an output of an earlier run is reported as kept, not as done', () => {
    const kept = withStep(sampleTrace(), 0, { startedAt: null, endedAt: null });
    expect(describeChanges(null, kept)).toContain('step 1 (gpt) kept: Paris.');
  });
});
