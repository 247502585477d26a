import { ApplicationFailure, condition, log, setHandler } from '@temporalio/workflow';
import { PlanError } from '../plan/plan-error';
import type { Plan, PlanContext } from '../plan/plan';
import { validatePlan } from '../plan/validate';
import { MAX_HINT_CHARACTERS } from '../protocol/bounds';
import type { HeldLimits, LimitsChange } from '../protocol/control';
import {
  findLimitsProblem,
  findRejectionProblem,
  isDepth,
  isHint,
  isSpending,
} from '../protocol/control-input';
import { FAILURES } from '../protocol/failures';
import { ADD_HINT_SIGNAL, LIMIT_SPENDING_SIGNAL, SET_MAX_DEPTH_SIGNAL } from '../protocol/names';
import type { Approval } from './approval';
import { heldLimitsOf, runLimitsOf } from './limits-change';
import {
  addHintSignal,
  approvePlanUpdate,
  editPlanUpdate,
  limitSpendingSignal,
  rejectPlanUpdate,
  setLimitsUpdate,
  setMaxDepthSignal,
  stateQuery,
} from './messages';
import type { Recorder } from './recorder';
import type { Steering } from './steering';

/** The parts of a run that messages are for. */
export interface Addressees {
  readonly recorder: Recorder;
  readonly steering: Steering;
  readonly approval: Approval;
}

/** Sets up every message that a run understands. To be done before anything is waited for. */
export function listen(addressees: Addressees): void {
  setHandler(stateQuery, () => addressees.recorder.trace);
  listenForSignals(addressees);
  setHandler(setLimitsUpdate, (change) => setLimits(addressees, change), { validator: refuseBadLimits });
  listenForVerdicts(addressees);
}

/** A signal cannot be refused: one that makes no sense is left alone, and the log says so. */
function listenForSignals({ steering }: Addressees): void {
  setHandler(setMaxDepthSignal, async (depth) => {
    if (isDepth(depth)) await steering.changeLimits({ depth });
    else ignore(SET_MAX_DEPTH_SIGNAL, 'a whole number from 0, or null for no limit');
  });
  setHandler(addHintSignal, async (hint) => {
    if (isHint(hint)) await steering.addHint(hint);
    else ignore(ADD_HINT_SIGNAL, `a text of 1 to ${MAX_HINT_CHARACTERS} characters`);
  });
  setHandler(limitSpendingSignal, async (limits) => {
    if (isSpending(limits)) await steering.changeLimits(limits);
    else ignore(LIMIT_SPENDING_SIGNAL, '{ calls, tokens, nanoUsd }, from a parent');
  });
}

function ignore(signal: string, expected: string): void {
  log.warn(`signal ${signal} ignored: expected ${expected}`);
}

/** A change holds at once. Its answer waits where the run has no limits yet: the first call resolves them soon. */
async function setLimits({ steering }: Addressees, change: LimitsChange): Promise<HeldLimits> {
  await steering.changeLimits(runLimitsOf(change));
  await condition(() => steering.limits !== null || steering.isOver);
  const { limits } = steering;
  if (limits === null) throw badMessage('the run ended before it had any limits to change');
  return heldLimitsOf(limits.current);
}

function refuseBadLimits(change: unknown): void {
  const problem = findLimitsProblem(change);
  if (problem !== null) throw badMessage(problem);
}

function listenForVerdicts({ approval }: Addressees): void {
  const contextOrRefuse = (): PlanContext => {
    if (approval.context !== null) return approval.context;
    throw badMessage(
      'no plan of this run waits for approval now: it asked for none, or its plan was decided on already',
    );
  };
  setHandler(
    approvePlanUpdate,
    () => {
      approval.decide({ kind: 'approved' });
      return null;
    },
    { validator: () => void contextOrRefuse() },
  );
  setHandler(
    editPlanUpdate,
    (plan) => {
      const checked = checkPlan(plan, contextOrRefuse());
      approval.decide({ kind: 'edited', plan: checked });
      return checked;
    },
    { validator: (plan) => void checkPlan(plan, contextOrRefuse()) },
  );
  setHandler(
    rejectPlanUpdate,
    ({ reason }) => {
      approval.decide({ kind: 'rejected', reason });
      return null;
    },
    {
      validator: (rejection) => {
        contextOrRefuse();
        const problem = findRejectionProblem(rejection);
        if (problem !== null) throw badMessage(problem);
      },
    },
  );
}

function checkPlan(plan: unknown, context: PlanContext): Plan {
  try {
    return validatePlan(plan, context);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    throw ApplicationFailure.nonRetryable(error.message, FAILURES.planInvalid);
  }
}

function badMessage(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(problem, FAILURES.badMessage);
}
