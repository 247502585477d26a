import { jsonBytes, MAX_SUBTASK_BYTES } from '../../src/plan/plan';
import { MAX_CALLS, MAX_STEPS } from '../../src/protocol/messages';
import type { SolveTrace, Step } from '../../src';
import type { RoundTrace } from '../../src/protocol/solve';
import { INLINE_CALL_BYTES } from '../../src/protocol/tool-use';
import { fitResult } from '../../src/workflows/payload-budget';
import { sampleToolCall, sampleTrace, sampleTurns } from '../trace/sample-trace';

const MAX_PAYLOAD_BYTES = 2 * 1024 * 1024;
const REFUSED = { type: 'Provider.Refused', message: 'm'.repeat(1000) };
const CHILD = 'r'.repeat(1000);

const LONG = 'c'.repeat(INLINE_CALL_BYTES);
const CALLS_OF_TOOLS = Array.from({ length: MAX_CALLS }, () =>
  sampleToolCall({ arguments: LONG, output: LONG }),
);

/** Returns the largest trace that limits and bounds allow. */
function largest(ownSteps: number): SolveTrace {
  const sample = sampleTrace();
  const [round] = sample.rounds;
  const [step] = round?.steps ?? [];
  const [call] = sample.calls;
  if (!round || !step || !call) throw new Error('a sample of each');
  const roundOf = (childId: string | null, count: number): RoundTrace => ({
    ...round,
    childId,
    plan: {
      steps: Array<Step>(count).fill({ worker: 'gpt', subtask: 's'.repeat(MAX_SUBTASK_BYTES - 2), sees: [] }),
    },
    steps: Array.from({ length: count }, (_, index) => ({
      ...step,
      index,
      output: 'o'.repeat(4000),
      childId: CHILD,
      error: REFUSED,
      // A run and its children make so many calls of tools, wherever they are.
      ...(childId === null && index === 0 && { turns: sampleTurns('gpt', CALLS_OF_TOOLS) }),
    })),
    answer: 'o'.repeat(4000),
  });
  const children = Array.from({ length: (MAX_CALLS - ownSteps) / MAX_STEPS }, (_, index) =>
    roundOf(`${CHILD}${index}`, MAX_STEPS),
  );
  return sampleTrace({
    answer: 'a'.repeat(1_000_000),
    rounds: [roundOf(null, ownSteps), ...children] as ReturnType<typeof sampleTrace>['rounds'],
    calls: Array.from({ length: MAX_CALLS }, () => ({ ...call, childId: CHILD, error: REFUSED })),
  });
}

test.each([0, MAX_STEPS])(
  'the largest trace with %i steps of its own is made to fit a payload, with its answer whole',
  (own) => {
    const trace = largest(own);
    expect(jsonBytes(trace)).toBeGreaterThan(MAX_PAYLOAD_BYTES);
    const fitted = fitResult(trace);
    expect(jsonBytes(fitted)).toBeLessThan(MAX_PAYLOAD_BYTES);
    expect(fitted.answer).toBe(trace.answer);
    expect(fitted.calls).toEqual(trace.calls);
    expect(fitted.rounds.map(({ steps }) => steps.length)).toEqual(
      trace.rounds.map(({ steps }) => steps.length),
    );
  },
);

test('a trace that fits is left unchanged', () => {
  const trace = sampleTrace();
  expect(fitResult(trace)).toBe(trace);
});
