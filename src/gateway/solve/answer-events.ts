import type { CallerCall, LiveEvent } from '../../client';
import type { Plan } from '../../plan/plan';
import type { SolveResult } from '../../protocol/solve';
import { callsOfCaller } from '../../trace/waiting-calls';
import type { Gateway } from '../gateway';
import type { AnswerPlace } from './answer-end';

export interface AnswerReading extends Pick<AnswerPlace, 'id'> {
  /** The solve as it is, for an answer that begins with results; null for the first answer. */
  readonly known: SolveResult | null;
  /** Position in the solve's events after which those of the answer begin. */
  readonly after?: string | undefined;
  readonly signal: AbortSignal;
}

/** Yields the events of one answer of a solve: the last is the solve's end, or calls whose results it waits for. */
export async function* eventsOfAnswer(
  { conductor }: Pick<Gateway, 'conductor'>,
  { id, known, after, signal }: AnswerReading,
): AsyncGenerator<LiveEvent> {
  const left = known === null ? [] : await toldBefore(conductor, known);
  if (left.length > 0) {
    yield { kind: 'callsWaiting', calls: left, cursor: '' };
    return;
  }
  for await (const event of conductor.stream(id, { signal, ...(after !== undefined && { after }) })) {
    yield event;
    if (event.kind === 'callsWaiting') return;
  }
}

/** Returns the calls of a solve that an earlier answer told, and that have no result yet. */
async function toldBefore(conductor: Gateway['conductor'], trace: SolveResult): Promise<CallerCall[]> {
  // The texts of a result are whole.
  const open = (trace.status === 'running' ? callsOfCaller(trace) : []) as CallerCall[];
  const found = await Promise.all(open.map(({ id }) => conductor.findCall(id)));
  return open.filter((_, index) => found[index]?.result === null);
}

/** Returns the plan of a solve as it is known, for a reader that comes after it was told. */
export function planKnown(trace: SolveResult | null): { readonly plan?: Plan } {
  const plan = trace?.rounds.findLast(({ childId }) => childId === null)?.plan;
  return plan ? { plan } : {};
}
