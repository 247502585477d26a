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

type Progress = Pick<ToolCall, 'outcome' | 'startedAt' | 'endedAt' | 'approval'>;

export function isUnderWay({ outcome, startedAt }: Pick<Progress, 'outcome' | 'startedAt'>): boolean {
  return outcome === null && startedAt !== null;
}

/** Whether a person has yet to decide on a call. */
export function asksPerson({ outcome, approval }: Pick<Progress, 'outcome' | 'approval'>): boolean {
  return outcome === null && approval?.decision === null;
}

/** `ok in 41 ms, approved by ada`, `denied`, `under way`, `not called`: what came of a call, and who decided on it. */
export function describeOutcome(call: Progress): string {
  const { approval } = call;
  const progress = describeProgress(call);
  if (approval === undefined || approval.decision === null) return progress;
  const by = approval.by === undefined ? '' : ` by ${approval.by}`;
  return `${progress}, ${approval.decision}${by}`;
}

function describeProgress(call: Progress): string {
  const { outcome, startedAt, endedAt } = call;
  if (isUnderWay(call)) return 'under way';
  if (outcome === null) return asksPerson(call) ? 'waits for approval' : 'not called';
  const isTimed = startedAt !== null && endedAt !== null;
  return isTimed ? `${outcome} in ${describeDuration(startedAt, endedAt)}` : outcome;
}
