import { setCurrentDetails } from '@temporalio/workflow';
import { isRecursionAllowed } from '../protocol/planning';
import type { RunTask } from '../protocol/activity-contract';
import type { ResolvedRun } from '../protocol/cards';
import type { Background, SolveInput } from '../protocol/input';
import type { SolveTrace } from '../protocol/solve';
import { renderTraceMarkdown } from '../trace/markdown';
import { applyEvent } from '../trace/reduce';
import type { Limits } from './limits';
import type { PayloadBudget } from './payload-budget';
import type { Approval, Steering } from './steering';
import type { CallApproval } from './tools/call-approval';
import type { ToolBox } from './tools/tool-box';
import type { RunEvent } from '../trace/events';

export interface RunContext extends RunTask {
  readonly input: SolveInput;
  /** Run as it was resolved; the limits that hold now are in `limits`. */
  readonly run: ResolvedRun;
  readonly limits: Limits;
  readonly steering: Steering;
  readonly recorder: Recorder;
  /** Depth of this solve: 0 for the one that a person asked for, one more for each level of children. */
  readonly depth: number;
  readonly rootId: string;
  /** Number of this solve's own plan; above 0 for a review. */
  readonly round: number;
  readonly background: readonly Background[];
  readonly approval: Approval;
  readonly callApproval: CallApproval;
  readonly payloads: PayloadBudget;
  readonly toolBox: ToolBox;
  /** Prefix of each call's identity, if calls have one: see `WorkerRequest`. */
  readonly identity?: string;
}

export type RunStart = Pick<RunContext, 'recorder' | 'steering' | 'approval' | 'callApproval'>;

/** Whether the present limits let the Conductor be given steps of this solve's plan, or review its answer. */
export function mayRecurse(
  how: 'worker' | 'review',
  { run: { recursion }, limits, depth }: RunContext,
): boolean {
  return isRecursionAllowed(how, { recursion, limits: limits.current }, depth);
}

/** Keeps the trace of a run. */
export class Recorder {
  constructor(private current: SolveTrace) {}

  get trace(): SolveTrace {
    return this.current;
  }

  record(event: RunEvent): void {
    this.current = applyEvent(this.current, event);
  }

  /** Shows the run in Temporal's own UI. It is rendered when someone looks: at each event, that would cost the most. */
  show(): void {
    // The SDK writes the details as JSON, which takes what `toJSON` returns.
    const details: unknown = { toJSON: () => renderTraceMarkdown(this.current) };
    setCurrentDetails(details as string);
  }
}
