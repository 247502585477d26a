import type { Background } from '../protocol/parent';
import * as rules from '../protocol/recursion';
import type { ResolvedRun } from '../protocol/run';
import type { SolveInput } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { RolloutId } from '../training/rollout';
import type { Approval } from './approval';
import type { Limits } from './limits';
import type { Recorder } from './recorder';
import type { Steering } from './steering';

/** What every part of a run needs to know of it. */
export interface RunContext {
  readonly input: SolveInput;
  readonly question: Text;
  /** As it was resolved; what limits hold now is in `limits`. */
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
  /** What everybody in this solve may see. */
  readonly background: readonly Background[];
  readonly approval: Approval;
  /** Set in training: the rollout that this is. */
  readonly rollout?: RolloutId;
}

/** Whether the Conductor may be given steps of this solve's plan, as the limits are now. */
export function mayCallItself({ run: { recursion }, limits, depth }: RunContext): boolean {
  return rules.mayCallItself({ recursion, limits: limits.current }, depth);
}

/** Whether the Conductor may review this solve's answer, as the limits are now. */
export function mayReview({ run: { recursion }, limits, depth }: RunContext): boolean {
  return rules.mayReview({ recursion, limits: limits.current }, depth);
}
