import type { Plan } from '../plan/plan';
import type { Call, Problem } from '../protocol/call';
import type { Text } from '../protocol/text';

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
  | { readonly kind: 'plan-asked'; readonly round: number }
  | { readonly kind: 'conductor-called'; readonly calls: readonly Call[] }
  | {
      readonly kind: 'planned';
      readonly round: number;
      readonly plan: Plan;
      /** True for the stand-in plan of one step, when the Conductor wrote none. */
      readonly degraded: boolean;
    }
  | (StepAddress & {
      readonly kind: 'step-started';
      readonly worker: string;
      readonly model: string | null;
      readonly fallbackFor: string | null;
      readonly at: string;
    })
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
  | {
      readonly kind: 'ended';
      readonly status: 'completed' | 'failed' | 'cancelled';
      readonly answer: Text | null;
      readonly error: Problem | null;
      readonly stoppedBy: 'wallClock' | null;
    };
