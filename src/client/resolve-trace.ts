import type { SolveResult, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { Store } from '../store/store';
import { readText } from '../store/texts';

/** The same trace with every text whole. */
export async function resolveTrace(trace: SolveTrace, store: Store): Promise<SolveResult> {
  const whole = async (text: Text | null): Promise<string | null> =>
    text === null ? null : readText(store, text);
  const rounds = trace.rounds.map(async (round) => ({
    ...round,
    steps: await Promise.all(
      round.steps.map(async (step) => ({ ...step, output: await whole(step.output) })),
    ),
    answer: await whole(round.answer),
  }));
  return {
    ...trace,
    question: await readText(store, trace.question),
    answer: await whole(trace.answer),
    rounds: await Promise.all(rounds),
  };
}
