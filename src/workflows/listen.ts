import type { UpdateDefinition } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
} from '@temporalio/workflow';
import {
  findLimitsProblem,
  findRejectionProblem,
  type HeldLimits,
  isDepth,
  HINT,
  LIMIT_RULES,
  type LimitsChange,
  MAX_HINTS,
  MAX_MESSAGES,
  type PlanRejection,
  type Sender,
} from '../protocol/messages';
import type { Plan } from '../plan/plan';
import { findShapeProblem } from '../plan/validate';
import {
  ADD_HINT_SIGNAL,
  APPROVE_PLAN_UPDATE,
  EDIT_PLAN_UPDATE,
  LIMITS_QUERY,
  REJECT_PLAN_UPDATE,
  SET_LIMITS_UPDATE,
  SET_MAX_DEPTH_SIGNAL,
  STATE_QUERY,
} from '../protocol/names';
import { runLimitsOf } from '../protocol/rights';
import type { SolveTrace } from '../protocol/solve';
import { checkPlan } from './failures';
import { badMessage, forbidFor, noteMessage, refuseFor } from './heed-message';
import { hearSignal } from './hear-signal';
import type { Limits } from './limits';
import type { RunStart } from './run-context';
import type { PlanVerdict, WaitingPlan } from './steering';
import { listenForDecisions } from './tools/hear-decisions';

/** Query: the live trace, long texts by reference, and whether a limit holds a step back. Finished runs answer, too. */
export const stateQuery = defineQuery<SolveTrace>(STATE_QUERY);

/** Query: the limits that hold; null until the first call has resolved them. */
export const limitsQuery = defineQuery<HeldLimits | null>(LIMITS_QUERY);

/** Signal: how deep the Conductor may call itself from now on; null: as deep as the other limits allow. */
export const setMaxDepthSignal = defineSignal<[number | null, Sender?]>(SET_MAX_DEPTH_SIGNAL);
/** Signal: a hint, which the Conductor is shown from its next call on. */
export const addHintSignal = defineSignal<[string, Sender?]>(ADD_HINT_SIGNAL);

/** Update: changes limits and returns those that now hold. */
export const setLimitsUpdate = defineUpdate<HeldLimits, [LimitsChange, Sender?]>(SET_LIMITS_UPDATE);
/** Update: approves the waiting plan, but only if it is the plan that the person saw. */
export const approvePlanUpdate = defineUpdate<null, [Plan, Sender?]>(APPROVE_PLAN_UPDATE);
/** Update: runs another plan instead, under the same rules as the Conductor's plans; returns it in normal form. */
export const editPlanUpdate = defineUpdate<Plan, [Plan, Sender?]>(EDIT_PLAN_UPDATE);
/** Update: has the Conductor write another plan, for the given reason. */
export const rejectPlanUpdate = defineUpdate<null, [PlanRejection, Sender?]>(REJECT_PLAN_UPDATE);

/** Sets the handlers of all messages that a run understands. Must come before the first await. */
export function handleRunMessages(start: RunStart): void {
  setHandler(stateQuery, () => {
    const { trace } = start.recorder;
    const isHeld = start.steering.limits?.isWaitedFor === true && trace.waitsFor === undefined;
    return isHeld ? { ...trace, waitsFor: 'limit' } : trace;
  });
  setHandler(limitsQuery, () => {
    const { limits } = start.steering;
    return limits && heldLimits(limits);
  });
  listenForSignals(start);
  listenForLimits(start);
  listenForVerdicts(start);
  listenForDecisions(start);
}

/** Sets the signal handlers. Signals cannot be refused, so an invalid one is ignored and logged. */
function listenForSignals(start: RunStart): void {
  const { steering } = start;
  hearSignal(setMaxDepthSignal, MAX_MESSAGES, (depth: number | null, sender?: Sender) => {
    const problem = isDepth(depth)
      ? steering.rights.findExcess({ depth }, sender)
      : `expected ${LIMIT_RULES.depth.expected}`;
    if (problem !== null) return problem;
    noteMessage(start, SET_MAX_DEPTH_SIGNAL, [depth, sender]);
    void steering.changeLimits({ depth }, sender);
    return null;
  });
  hearSignal(addHintSignal, MAX_HINTS, (hint: string, sender?: Sender) => {
    if (!HINT.isMet(hint)) return `expected ${HINT.expected}`;
    noteMessage(start, ADD_HINT_SIGNAL, [hint, sender]);
    if (steering.hints.length === MAX_HINTS) return `expected at most ${MAX_HINTS} hints a run`;
    steering.addHint(hint);
    return null;
  });
}

/** Sets the handler of the only update that is of use again and again, and leaves the rest of them for verdicts. */
function listenForLimits(start: RunStart): void {
  let accepted = 0;
  const change = (asked: LimitsChange, sender?: Sender): Promise<HeldLimits> => {
    accepted += 1;
    return setLimits(start, asked, sender);
  };
  setHandler(setLimitsUpdate, change, {
    validator: (asked: LimitsChange, sender?: Sender) => {
      refuseFor(findLimitsProblem(asked) ?? (accepted < MAX_MESSAGES ? null : TOO_MANY_CHANGES));
      forbidFor(start.steering.rights.findExcess(runLimitsOf(asked), sender));
    },
  });
}

/** Temporal accepts 2,000 updates of a run, refused ones not counted. */
const TOO_MANY_CHANGES =
  `the limits of this run were changed ${MAX_MESSAGES} times, the most that it accepts, so that decisions on its ` +
  'plan are always possible: decide on its plan, cancel it, or start another run';

/** Applies a change at once. Replies when the run has limits: the first call resolves them soon. */
async function setLimits(start: RunStart, change: LimitsChange, sender: unknown): Promise<HeldLimits> {
  const { steering } = start;
  await Promise.all(steering.changeLimits(runLimitsOf(change), sender));
  // A cancellation does not reject the update: the reply comes once limits are known or the run is over.
  await CancellationScope.nonCancellable(() => condition(() => steering.limits !== null || steering.isOver));
  const { limits } = steering;
  if (limits === null) throw badMessage('the run ended before it had any limits to change');
  const held = heldLimits(limits);
  noteMessage(start, SET_LIMITS_UPDATE, [change, sender], held);
  return held;
}

function listenForVerdicts(start: RunStart): void {
  const { approval, steering } = start;
  /** @param judge throws if it refuses the verdict */
  const hear = <Said, Answer>(
    update: UpdateDefinition<Answer, [Said, Sender?]>,
    judge: (
      waiting: WaitingPlan,
      said: Said,
      sender?: Sender,
    ) => { readonly verdict: PlanVerdict; readonly answer: Answer },
  ): void => {
    const judged = (said: Said, sender?: Sender): ReturnType<typeof judge> => {
      if (approval.waiting !== null) return judge(approval.waiting, said, sender);
      throw badMessage(
        'this run has no plan waiting for approval: none is written yet, it was started without approval, or its plan was already decided on',
      );
    };
    const decide = (said: Said, sender?: Sender): Answer => {
      const { verdict, answer } = judged(said, sender);
      noteMessage(start, update.name, [said, sender]);
      approval.decide(verdict);
      return answer;
    };
    setHandler(update, decide, { validator: judged });
  };
  hear(approvePlanUpdate, ({ plan }, seen) => {
    checkSeen(seen, plan);
    return { verdict: { plan }, answer: null };
  });
  hear(editPlanUpdate, ({ rules }, edited) => {
    const plan = checkPlan(edited, rules());
    return { verdict: { plan }, answer: plan };
  });
  hear(rejectPlanUpdate, (_, rejection, sender) => {
    refuseFor(findRejectionProblem(rejection));
    forbidFor(steering.rights.findPlanningProblem(sender));
    return { verdict: { reason: rejection.reason }, answer: null };
  });
}

/** Checks that an approved plan is the waiting one. To name an encrypted plan, the sender needs the run's key. */
function checkSeen(seen: unknown, { steps }: Plan): void {
  const problem = findShapeProblem(seen);
  if (problem !== null) throw badMessage(`approvePlan needs the plan that was reviewed: ${problem}`);
  if (JSON.stringify(comparableSteps(seen as Plan)) === JSON.stringify(comparableSteps({ steps }))) return;
  throw badMessage('the waiting plan differs from the one you approved: review it and decide again');
}

function comparableSteps({ steps }: Plan): unknown {
  return steps.map(({ worker, subtask, sees }) => [worker, subtask, sees]);
}

function heldLimits(limits: Limits): HeldLimits {
  const { steps, depth, calls, tokens, nanoUsd, wallClockMs } = limits.current;
  const costUsd = nanoUsd === null ? null : nanoUsd / 1e9;
  const { personEndsAt } = limits;
  return {
    steps,
    depth,
    calls,
    tokens,
    costUsd,
    wallClockMs,
    remainingMs: limits.remainingMs(),
    approvalEndsAt: personEndsAt === null ? null : new Date(personEndsAt).toISOString(),
  };
}
