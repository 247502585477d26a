import { ApplicationFailure } from '@temporalio/workflow';
import { FAILURES, type CallFailureDetails, type FailureType } from '../protocol/failures';
import type { SolveTrace } from '../protocol/solve';
import { now } from './now';

/** A limit that ended a run. */
export type StoppedBy = NonNullable<SolveTrace['stoppedBy']>;

const TYPES: Readonly<Record<StoppedBy, FailureType>> = {
  calls: FAILURES.callLimit,
  tokens: FAILURES.tokenLimit,
  cost: FAILURES.costLimit,
  wallClock: FAILURES.wallClock,
  approval: FAILURES.approvalLimit,
};

/** The failure of what a limit forbids. It says that no request was sent, so that nothing is counted for it. */
export function limitFailure(by: StoppedBy, message: string): ApplicationFailure {
  const at = now();
  const details: CallFailureDetails = { calls: [], startedAt: at, endedAt: at };
  return ApplicationFailure.create({ message, type: TYPES[by], nonRetryable: true, details: [details] });
}

/** The limit that a failure is about, if it is about one. */
export function limitIn(type: string): StoppedBy | null {
  const names = Object.keys(TYPES) as StoppedBy[];
  return names.find((by) => TYPES[by] === type) ?? null;
}
