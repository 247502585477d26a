import type { SolveTrace } from '../protocol/solve';

type Limit = NonNullable<SolveTrace['stoppedBy']>;

interface Explanation {
  readonly what: string;
  readonly why: string;
  readonly remedy: string;
}

/** The limits on money and its kin look ahead; whoever reads that a run was stopped shall know that it never overran. */
const WORST_CASE =
  'A call is begun only where its worst case still fits, so a run stops before a limit, never behind it.';

const EXPLANATIONS: Readonly<Record<Limit, Explanation>> = {
  calls: { what: 'limit on calls', why: WORST_CASE, remedy: 'Raise limits.calls in conductor.yaml' },
  tokens: { what: 'limit on tokens', why: WORST_CASE, remedy: 'Raise limits.tokens in conductor.yaml' },
  cost: {
    what: 'limit on cost',
    why: WORST_CASE,
    remedy: 'Raise limits.costUsd in conductor.yaml, or --max-cost',
  },
  wallClock: {
    what: 'limit on time',
    why: 'Calls that were under way were broken off.',
    remedy: 'Raise limits.wallClock in conductor.yaml',
  },
  approval: {
    what: 'deadline of approval',
    why: 'Nobody approved its plan in time.',
    remedy: 'Raise limits.approval in conductor.yaml',
  },
};

/** Which limit ended a run, why it may have done so early, and what to do: three sentences. */
export function explainStop(
  stoppedBy: Limit,
  { id, rounds }: Pick<SolveTrace, 'id' | 'rounds'>,
): readonly [string, string, string] {
  const { what, why, remedy } = EXPLANATIONS[stoppedBy];
  const hasPlan = rounds.some(({ childId, plan }) => childId === null && plan !== null);
  const option = stoppedBy === 'cost' ? ' --max-cost USD' : '';
  const goOn = hasPlan
    ? `; "temporal-conductor retry ${id} --from STEP${option}" then goes on from a step`
    : '';
  return [`The run was stopped by its ${what}.`, why, `${remedy}${goOn}.`];
}
