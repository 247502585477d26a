import type { Plan } from '../plan';
import type { GivenText } from '../worker-prompt';
import type { FailedAttempt } from './repair-turns';
import type { RulesInput } from './rules';

/** Everything that the Conductor is told in one call, whatever form it is told in. */
export interface ConductorPrompt extends RulesInput {
  readonly question: string;
  /** `full`: with rules and examples; `compact`: without, for a policy that learned them. @default 'full' */
  readonly style?: 'full' | 'compact';
  /** What is given with a question that another plan of the Conductor's asks. */
  readonly background?: readonly GivenText[];
  /** The plan that was carried out, and what came of it: to be accepted or improved. */
  readonly review?: { readonly plan: Plan; readonly answer: string };
  /** What the operator wants to be minded, oldest first. */
  readonly hints?: readonly string[];
  /** Replies that did not do, oldest first. */
  readonly repairs: readonly FailedAttempt[];
}
