import type { Call, RoundTrace, SolveTrace, StepTrace } from '../protocol/solve';

/**
 * Trace whose flat list of rounds is assigned to runs by workflow ids: `<parent>-r0s2` was started for the second step
 * of its parent's first round, `<parent>-review` to review its parent's answer.
 */
export type RunTree = Pick<SolveTrace, 'id' | 'rounds'>;

const REVIEWS = /(?<!-review)(?:-review)+$/;

/** Returns whether an id is `ancestor` or a run below it; false without an id, which means the trace's own run. */
export function isWithin(id: string | null | undefined, ancestor: string): boolean {
  return id === ancestor || (id ?? '').startsWith(`${ancestor}-`);
}

/** Returns the rounds of one run as a person counts them: its own, its review's, the review's review's, and so on. */
export function roundsOf<Round extends Pick<RoundTrace, 'childId'>>(
  { id: root, rounds }: { readonly id: string; readonly rounds: readonly Round[] },
  id = root,
): Round[] {
  const line = id.replace(REVIEWS, '');
  return rounds.filter(({ childId }) => (childId ?? root).replace(REVIEWS, '') === line);
}

/** Returns the last step of the plan whose answer stands: the run's own, or that of the last review that revised it. */
export function answeringStep(tree: RunTree): StepTrace | undefined {
  return roundsOf(tree)
    .find(({ decision }) => decision !== 'revised')
    ?.steps.at(-1);
}

/** Returns the run's own round of this number; those of its children are in the same list. */
export function ownRound({ rounds }: Pick<SolveTrace, 'rounds'>, number: number): RoundTrace | undefined {
  return rounds.find(({ childId, round }) => childId === null && round === number);
}

export function isReview({ childId }: Pick<RoundTrace, 'childId'>): boolean {
  return childId?.endsWith('-review') ?? false;
}

/** Returns the path of a round: `` for the run's own, `round 2 › ` in a review, `step 3 › ` in the child of a step. */
export function pathOf({ id, rounds }: RunTree, { childId, round }: RoundTrace): string {
  if (childId === null || childId === id) return '';
  const ofStep = childId.replace(REVIEWS, '');
  const parent = rounds.find(({ steps }) => steps.some((step) => step.childId === ofStep));
  const step = parent?.steps.find((each) => each.childId === ofStep);
  const above = parent === undefined ? '' : pathOf({ id, rounds }, parent);
  const inStep = step === undefined ? '' : `step ${step.index + 1} › `;
  return above + inStep + (ofStep === childId ? '' : `round ${round + 1} › `);
}

export function callsOfPlan(calls: readonly Call[], round: RoundTrace): Call[] {
  return calls.filter((call) => isCallOf(call, round, null));
}

/** Returns all calls of a step: its worker's, or those of its child and of all runs below. */
export function callsOfStep(calls: readonly Call[], round: RoundTrace, step: StepTrace): Call[] {
  const { index, childId } = step;
  const isBelow = (call: Call): boolean => childId !== null && isWithin(call.childId, childId);
  return calls.filter((call) => isCallOf(call, round, index) || isBelow(call));
}

/** Returns whether a call is one of a step of this round, or of its plan if `step` is null; not of a run below. */
export function isCallOf(
  call: Call,
  { round, childId }: Pick<RoundTrace, 'round' | 'childId'>,
  step: number | null,
): boolean {
  return call.round === round && call.step === step && (call.childId ?? null) === childId;
}

export function waitingRuns(tree: RunTree & Pick<SolveTrace, 'waitsFor'>): string[] {
  return waitingRounds(tree).map(({ childId }) => childId ?? tree.id);
}

export function waitingRounds(trace: Pick<SolveTrace, 'rounds' | 'waitsFor'>): RoundTrace[] {
  return trace.waitsFor === 'approval' ? trace.rounds.filter(isUnbegun) : [];
}

/** Returns the runs with a step that could start: something holds it back, or it is about to start. */
export function stalledRuns({ id, rounds, waitsFor }: RunTree & Pick<SolveTrace, 'waitsFor'>): string[] {
  const isStalled = ({ plan, steps }: RoundTrace): boolean =>
    steps.some(({ index, startedAt, output }) => {
      const sees = plan?.steps[index]?.sees ?? [];
      const isUnbegun = startedAt === null && output === null;
      return isUnbegun && sees.every((earlier) => steps[earlier]?.output !== null);
    });
  const stalled = waitsFor === undefined ? rounds.filter(isStalled) : [];
  return [...new Set(stalled.map(({ childId }) => childId ?? id))];
}

/** Returns whether a round has a plan of which no step has started. */
export function isUnbegun({ plan, steps, decision }: RoundTrace): boolean {
  const isUntouched = steps.every((step) => step.startedAt === null);
  return plan !== null && plan.steps.length > 0 && decision === null && isUntouched;
}
