import type { SolveResult, SolveTrace, StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { openOnce } from '../runtime/turns';
import type { Store } from '../store/store';
import { readText } from '../store/texts';

export type ReadWhole = (text: Text) => Promise<string>;

/** Returns a function that reads each text once, however many traces refer to it. */
export function reading(store: Store): ReadWhole {
  const known = new Map<string, Promise<string>>();
  return (text) =>
    typeof text === 'string' ? Promise.resolve(text) : openOnce(known, text.ref, () => readText(store, text));
}

/** Returns a trace with its whole texts in place of references. */
export async function resolveTrace(trace: SolveTrace, read: ReadWhole): Promise<SolveResult> {
  const whole = async (text: Text | null): Promise<string | null> => (text === null ? null : read(text));
  const wholeTurn = async ({ calls, ...turn }: NonNullable<StepTrace['turns']>[number]) => ({
    ...turn,
    calls: await Promise.all(
      calls.map(async (call) => ({
        ...call,
        arguments: await read(call.arguments),
        output: await whole(call.output),
      })),
    ),
  });
  const rounds = trace.rounds.map(async (round) => {
    const steps = round.steps.map(async ({ thoughts, turns, ...step }) => ({
      ...step,
      output: await whole(step.output),
      ...(thoughts !== undefined && { thoughts: await read(thoughts) }),
      ...(turns !== undefined && { turns: await Promise.all(turns.map(wholeTurn)) }),
    }));
    return { ...round, steps: await Promise.all(steps), answer: await whole(round.answer) };
  });
  const question = await read(trace.question);
  return { ...trace, question, answer: await whole(trace.answer), rounds: await Promise.all(rounds) };
}
