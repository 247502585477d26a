import type { Plan } from '../../plan/plan';
import type { ResolvedRun } from '../../protocol/cards';
import type { ConductorChange } from '../../protocol/input';

export interface Team {
  readonly workers: readonly string[];
  /** Returns random numbers in [0, 1), seeded by evaluation seed, try, question and method. */
  readonly random: () => number;
}

/**
 * Form in which a method without a Conductor prompts its worker. `bare`: the question alone. `team`: as a member of a
 * team with a subtask, as in plans.
 */
export type Form = 'bare' | 'team';

/**
 * A way to answer questions. All methods use the same calls, ledger and limits, so that they can be compared.
 *
 * - `conductor`: the configured Conductor, or a different one, writes the plan.
 * - `plan`: a plan that no model wrote.
 * - `rewrite`: the Conductor's plan for the same question, changed in one respect. The cost of writing it counts as a
 *   cost of the method, but is not paid again.
 * - `routed`: the worker chosen for the question beforehand answers it.
 * - `agreement`: every worker answers, and the most frequent answer counts; no known right answers are needed.
 * - `samples`: one worker is asked repeatedly, for as much as the Conductor cost on this question.
 */
export type Method =
  | {
      readonly kind: 'conductor';
      readonly depth: number;
      readonly steps?: number;
      /** Overrides the configured recursion. */
      readonly recursion?: ResolvedRun['recursion'];
      readonly change?: ConductorChange;
      /** Name of an additional Conductor that writes the plan. */
      readonly named?: string;
    }
  | {
      readonly kind: 'plan';
      /** The only worker of the plan, and the form in which it is prompted. */
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
