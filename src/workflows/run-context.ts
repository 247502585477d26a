import { setCurrentDetails } from '@temporalio/workflow';
import { mayCallItself as mayCallItselfWith, mayReview as mayReviewWith } from '../protocol/planning';
import type { ResolvedRun } from '../protocol/cards';
import type { Background, SolveInput } from '../protocol/input';
import type { SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { renderMarkdown } from '../trace/markdown';
import { applyEvent } from '../trace/reduce';
import type { Limits } from './limits';
import type { PayloadBudget } from './payload-budget';
import type { Approval, Steering } from './steering';
import type { RunEvent } from '../trace/events';

/** State that every part of a run shares. */
export interface RunContext {
  readonly input: SolveInput;
  readonly question: Text;
  /** Run as it was resolved; the limits that hold now are in `limits`. */
  readonly run: ResolvedRun;
  readonly limits: Limits;
  readonly steering: Steering;
  readonly recorder: Recorder;
  /** 0 for the solve that a person asked for, one more for each child below it. */
  readonly depth: number;
  /** Workflow id of the solve that a person asked for. */
  readonly rootId: string;
  /** Number of the one plan that this solve writes itself; above 0 for a review. */
  readonly round: number;
  /** Background that every call of this solve may see. */
  readonly background: readonly Background[];
  readonly approval: Approval;
  readonly payloads: PayloadBudget;
  /** Begins the identity of each call, where calls have one: see `WorkerRequest`. */
  readonly identity?: string;
}

/** Whether the Conductor may be given steps of this solve's plan, as the limits are now. */
export function mayCallItself({ run: { recursion }, limits, depth }: RunContext): boolean {
  return mayCallItselfWith({ recursion, limits: limits.current }, depth);
}

/** Whether the Conductor may review this solve's answer, as the limits are now. */
export function mayReview({ run: { recursion }, limits, depth }: RunContext): boolean {
  return mayReviewWith({ recursion, limits: limits.current }, depth);
}

/** Keeps the trace of a run, and shows it in Temporal's own UI as it grows. */
export class Recorder {
  /** @param show what is done with each new state; a run that is one of many in its workflow shows nothing */
  constructor(
    private current: SolveTrace,
    private readonly show: (trace: SolveTrace) => void = showInUi,
  ) {}

  get trace(): SolveTrace {
    return this.current;
  }

  record(event: RunEvent): void {
    this.current = applyEvent(this.current, event);
    this.show(this.current);
  }
}

function showInUi(trace: SolveTrace): void {
  setCurrentDetails(renderMarkdown(trace));
}
