import { ApplicationFailure } from '@temporalio/workflow';
import { FAILURES } from '../protocol/failures';
import { readMessage } from '../trace/steered';
import { now } from './failures';
import type { RunStart } from './run-context';

/** Writes a message that the run heeds into its trace (rule 7 of `client/trace-reader.ts`). */
export function noteMessage(
  { recorder }: RunStart,
  name: string,
  args: readonly unknown[],
  answer?: unknown,
): void {
  const message = readMessage(name, args, now(), answer);
  if (message !== null) recorder.record({ kind: 'steered', message });
}

export function refuseFor(problem: string | null): void {
  if (problem !== null) throw badMessage(problem);
}

export function forbidFor(problem: string | null): void {
  if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FAILURES.notAllowed);
}

export function badMessage(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FAILURES.badMessage);
}
