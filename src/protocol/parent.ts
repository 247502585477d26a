import type { Plan } from '../plan/plan';
import type { ResolvedRun } from './run';
import type { Text } from './text';

/** An earlier text that everybody in a child may see: an output that its parent's plan showed it, or the answer at hand. */
export interface Background {
  /** What was asked for; null for the answer that a review is about. */
  readonly subtask: string | null;
  readonly output: Text;
}

/** The round that a child is to review. */
export interface ReviewedRound {
  readonly plan: Plan;
  readonly answer: Text;
}

/** What a solve that the Conductor called from another solve is given by it. */
export interface Parent {
  /** Workflow id of the solve that a person asked for. */
  readonly rootId: string;
  /** Depth of the child, from 1. */
  readonly depth: number;
  /** Number of the child's first plan: 0 for a step, one more than the reviewed round's for a review. */
  readonly round: number;
  /** Index of the step of the parent's plan that the child is for; absent for a review. */
  readonly step?: number;
  /** The resolved configuration, its limits cut to what the child may use. */
  readonly run: ResolvedRun;
  readonly background: readonly Background[];
  readonly review?: ReviewedRound;
  /** Hints that were given to the run so far. */
  readonly hints: readonly string[];
}
