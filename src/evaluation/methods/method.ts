import type { Plan } from '../../plan/plan';
import type { ResolvedRun } from '../../protocol/cards';
import type { ConductorChange } from '../../protocol/input';

export interface Team {
  readonly workers: readonly string[];
  /** Gives numbers in [0, 1), the same ones for the same evaluation seed, question and method. */
  readonly random: () => number;
}

/**
 * How the worker of a method without a Conductor is asked: by the question alone, as by anybody, or as a member of a team
 * with a subtask, as in plans.
 */
export type Form = 'bare' | 'team';

/**
 * One way to answer questions, compared with others by the same calls, ledger and limits.
 *
 * - `conductor`: the configured Conductor, or one that differs from it, writes the plan.
 * - `plan`: a plan that no model wrote.
 * - `rewrite`: the plan that the Conductor wrote for this very question, changed in one respect. Writing it counts for what
 *   such a method costs, and is not paid again.
 * - `routed`: the worker that was chosen for the question beforehand answers it.
 * - `agreement`: every worker answers, and the answer that most of them gave counts. No right answer decides whom to ask.
 * - `samples`: one worker is asked again and again, for as much as the Conductor cost on this question.
 */
export type Method =
  | {
      readonly kind: 'conductor';
      readonly depth: number;
      readonly steps?: number;
      /** Overrides the configured recursion. */
      readonly recursion?: ResolvedRun['recursion'];
      readonly change?: ConductorChange;
      /** The name of a further one that writes the plan. */
      readonly named?: string;
    }
  | {
      readonly kind: 'plan';
      /** The one worker that it is about, and how that is asked. */
      readonly solo?: { readonly worker: string; readonly form: Form };
      readonly write: (team: Team, form: Form) => Plan;
    }
  | { readonly kind: 'rewrite'; readonly rewrite: (plan: Plan, team: Team) => Plan }
  | { readonly kind: 'routed' }
  | { readonly kind: 'agreement' }
  | {
      readonly kind: 'samples';
      readonly form: Form;
      readonly worker: string;
      readonly choose: 'judge' | 'vote';
    };
