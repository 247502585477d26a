import { workflowInfo } from '@temporalio/workflow';
import type { ResolvedRun } from '../protocol/run';
import type { Text } from '../protocol/text';
import type { Recorder } from './recorder';

/** What every part of a run needs to know of it. */
export interface RunContext {
  readonly question: Text;
  readonly run: ResolvedRun;
  readonly recorder: Recorder;
  readonly seed: number | undefined;
}

/** How much of the run's wall clock is left, in milliseconds; 0 when it is used up. */
export function remainingMs(wallClockMs: number): number {
  return Math.max(0, workflowInfo().runStartTime.getTime() + wallClockMs - Date.now());
}

/** The time as traces hold it: ISO 8601 in UTC, deterministic inside a workflow. */
export function now(): string {
  return new Date(Date.now()).toISOString();
}
