import type { StepTrace } from '../protocol/solve';
import { describeDuration } from './describe';

type ToolCall = NonNullable<StepTrace['turns']>[number]['calls'][number];

/** Where a call of a tool stands in its step; `ordinal` counts the calls of its turn from 0. */
interface CallPlace {
  readonly worker: string;
  readonly turn: number;
  readonly ordinal: number;
}
export type PlacedCall = ToolCall & CallPlace;

interface Turn<Call> {
  readonly worker: string;
  readonly turn: number;
  readonly calls: readonly Call[];
}

/** Returns the calls of tools that a step's models asked for, in their order. */
export function toolCallsOf<Call>({
  turns = [],
}: {
  readonly turns?: readonly Turn<Call>[];
}): (Call & CallPlace)[] {
  return turns.flatMap(({ worker, turn, calls }) =>
    calls.map((call, ordinal) => ({ ...call, worker, turn, ordinal })),
  );
}

type Progress = Pick<ToolCall, 'outcome' | 'startedAt' | 'endedAt'>;

export function isUnderWay({ outcome, startedAt }: Progress): boolean {
  return outcome === null && startedAt !== null;
}

/** `ok in 41 ms`, `denied`, `under way` or `not called`: what came of a call. */
export function describeOutcome({ outcome, startedAt, endedAt }: Progress): string {
  if (outcome === null) return startedAt === null ? 'not called' : 'under way';
  return startedAt === null || endedAt === null
    ? outcome
    : `${outcome} in ${describeDuration(startedAt, endedAt)}`;
}
