import type { Plan } from '../plan/plan';
import type { Call, Problem } from '../protocol/call';
import type { RoundTrace, SolveTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';

type Amount = NonNullable<SolveTrace['spentAtMost']>;
type Estimate = NonNullable<SolveTrace['estimate']>;

/** Which step of which round an event is about. */
export interface StepAddress {
  readonly round: number;
  readonly step: number;
}

/**
 * What can happen to a run, as far as its trace is concerned.
 *
 * The workflow records these as it goes; the same ones are read back from a history. Both feed `applyEvent`, so a
 * run looks the same live, finished, and seen from a machine without a worker.
 */
export type RunEvent =
  | { readonly kind: 'plan-asked'; readonly round: number; readonly depth: number }
  | {
      readonly kind: 'conductor-called';
      readonly calls: readonly Call[];
      /** The checkpoint that was asked; absent where the Conductor is none. */
      readonly checkpoint?: string;
    }
  | {
      readonly kind: 'planned';
      readonly round: number;
      readonly plan: Plan;
      /** True for the stand-in plan of one step, when the Conductor wrote none. */
      readonly degraded: boolean;
    }
  /** What the plan may cost at most, told before its first step. */
  | { readonly kind: 'estimated'; readonly estimate: Estimate }
  /** A plan waits for a person; the wait ends with a plan, a step or the run. */
  | { readonly kind: 'approval-asked' }
  | (StepAddress & {
      readonly kind: 'step-started';
      readonly worker: string;
      readonly model: string | null;
      readonly fallbackFor: string | null;
      /** The child workflow, for a step that the Conductor was given itself. */
      readonly childId?: string;
      readonly at: string;
    })
  /** A step whose output an earlier run had already. */
  | (StepAddress & { readonly kind: 'step-kept'; readonly output: Text })
  | (StepAddress & {
      readonly kind: 'step-answered';
      readonly output: Text;
      readonly calls: readonly Call[];
      readonly dropped: readonly string[];
      readonly startedAt: string;
      readonly endedAt: string;
    })
  | (StepAddress & {
      readonly kind: 'step-failed';
      readonly problem: Problem;
      /** What arrived before the failure: all there will be, unless another attempt does better. */
      readonly output: Text;
      readonly calls: readonly Call[];
      readonly dropped: readonly string[];
      readonly endedAt: string;
    })
  | { readonly kind: 'answered'; readonly round: number; readonly answer: Text }
  /** A child reads the round's answer, and may replace it by a round of its own. */
  | {
      readonly kind: 'review-started';
      readonly round: number;
      readonly depth: number;
      readonly childId: string;
    }
  /** null: the child vanished without leaving a trace. */
  | { readonly kind: 'child-ended'; readonly childId: string; readonly trace: SolveTrace | null }
  | {
      readonly kind: 'decided';
      readonly round: number;
      readonly decision: NonNullable<RoundTrace['decision']>;
    }
  | {
      readonly kind: 'ended';
      readonly status: 'completed' | 'failed' | 'cancelled';
      readonly answer: Text | null;
      readonly error: Problem | null;
      readonly stoppedBy: SolveTrace['stoppedBy'];
      readonly spentAtMost?: Amount;
    };

/** The events of these kinds. */
export type EventOf<Kind extends RunEvent['kind']> = Extract<RunEvent, { kind: Kind }>;
