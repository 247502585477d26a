import type { SolveBody, Me } from '../api/types';
import { findLimitProblem, limitIn, textOfLimit } from '../parts/limit';
import { counted, describeUsd } from '../../../src/trace/describe';

export type Approval = 'none' | 'plan' | 'all';

/** Settings to choose besides the question. Texts are as the person typed them. */
export interface Choices {
  readonly costUsd: string;
  readonly steps: string;
  readonly depth: string;
  readonly approval: Approval;
  /** Ids of excluded workers. */
  readonly without: readonly string[];
}

export function defaultChoices({ limits }: Me): Choices {
  const { costUsd, steps, depth } = limits;
  return {
    costUsd: textOfLimit(costUsd),
    steps: String(steps),
    depth: textOfLimit(depth),
    approval: 'none',
    without: [],
  };
}

/** Returns the request for a question; it omits settings left at their configured values. */
export function solveBodyOf(
  question: string,
  choices: Choices,
  me: Me,
): SolveBody & { readonly question: string } {
  const defaults = defaultChoices(me);
  const named = (['costUsd', 'steps', 'depth'] as const).filter((name) => choices[name] !== defaults[name]);
  const limits = Object.fromEntries(named.map((name) => [name, limitIn(choices[name])]));
  const { approval, without } = choices;
  return {
    question,
    model: 'conductor',
    ...(named.length > 0 && { limits }),
    ...(approval !== 'none' && { approval }),
    ...(without.length > 0 && { pool: { deny: [...without] } }),
  };
}

const APPROVALS: Readonly<Record<Approval, string>> = {
  none: 'starts at once',
  plan: 'waits for your approval of the plan',
  all: 'waits for your approval of every plan',
};

/** Returns which limit cannot be used and what it must be, or null. */
export function findChoiceProblem({ costUsd, steps, depth }: Choices): string | null {
  return findLimitProblem({ costUsd, steps, depth });
}

/** Describes the choices in one line. */
export function describeChoices(choices: Choices, { workers }: Me): string {
  const { costUsd, steps, depth, approval, without } = choices;
  if (findChoiceProblem(choices) !== null) return 'a limit that cannot be used';
  const money = costUsd.trim() === '' ? 'no cost limit' : `at most ${describeUsd(Number(costUsd))}`;
  const team =
    without.length === 0
      ? counted(workers.length, 'worker')
      : `${workers.length - without.length} of ${counted(workers.length, 'worker')}`;
  const deep = depth === '0' ? [] : [depth.trim() === '' ? 'any depth' : `depth ${depth}`];
  return [money, `${counted(Number(steps), 'step')} per plan`, ...deep, team, APPROVALS[approval]].join(
    ' · ',
  );
}
