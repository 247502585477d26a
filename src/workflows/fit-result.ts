import { jsonBytes } from '../plan/plan';
import type { RoundTrace, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';

/** Temporal takes payloads up to 2 MB: with a longer result, a run would never end. */
const MAX_RESULT_BYTES = 1_900_000;
const CLIPPED_CHARACTERS = 200;

/**
 * The trace as it is left. Where that is too much, texts of children are clipped, and where it still is, those of the run
 * itself: their histories hold them whole.
 */
export function fitResult(trace: SolveTrace): SolveTrace {
  if (jsonBytes(trace) <= MAX_RESULT_BYTES) return trace;
  const fitted = clipRounds(trace, ({ childId }) => childId !== null);
  return jsonBytes(fitted) <= MAX_RESULT_BYTES ? fitted : clipRounds(trace, () => true);
}

function clipRounds(trace: SolveTrace, isClipped: (round: RoundTrace) => boolean): SolveTrace {
  const clip = (text: string): string =>
    text.length <= CLIPPED_CHARACTERS ? text : `${text.slice(0, CLIPPED_CHARACTERS)}…`;
  const clipText = (text: Text | null): Text | null => (typeof text === 'string' ? clip(text) : text);
  const rounds = trace.rounds.map((round) => {
    if (!isClipped(round)) return round;
    const steps = round.steps.map((step) => ({ ...step, output: clipText(step.output) }));
    const planned = round.plan?.steps.map((step) => ({ ...step, subtask: clip(step.subtask) }));
    return { ...round, steps, plan: planned ? { steps: planned } : null, answer: clipText(round.answer) };
  });
  return { ...trace, rounds };
}
