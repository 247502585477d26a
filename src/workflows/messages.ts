import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { SpendingLimits } from '../money/amount';
import type { Plan } from '../plan/plan';
import type { HeldLimits, LimitsChange, PlanRejection } from '../protocol/control';
import {
  ADD_HINT_SIGNAL,
  APPROVE_PLAN_UPDATE,
  EDIT_PLAN_UPDATE,
  LIMIT_SPENDING_SIGNAL,
  REJECT_PLAN_UPDATE,
  SET_LIMITS_UPDATE,
  SET_MAX_DEPTH_SIGNAL,
  STATE_QUERY,
} from '../protocol/names';
import type { SolveTrace } from '../protocol/solve';

/** The live trace, long texts by reference. Answers on finished runs too. */
export const stateQuery = defineQuery<SolveTrace>(STATE_QUERY);

/** How deep the Conductor may call itself from now on; null: as deep as the other limits let it. */
export const setMaxDepthSignal = defineSignal<[number | null]>(SET_MAX_DEPTH_SIGNAL);
/** Something for the Conductor to mind, shown to it from its next call on. */
export const addHintSignal = defineSignal<[string]>(ADD_HINT_SIGNAL);
/** From a parent to its children: spend no more than this. */
export const limitSpendingSignal = defineSignal<[SpendingLimits]>(LIMIT_SPENDING_SIGNAL);

/** Changes limits and returns what now holds. */
export const setLimitsUpdate = defineUpdate<HeldLimits, [LimitsChange]>(SET_LIMITS_UPDATE);
/** Lets the plan run that waits for approval. */
export const approvePlanUpdate = defineUpdate<null>(APPROVE_PLAN_UPDATE);
/** Runs another plan instead, held to the same rules as one of the Conductor's; returns it in normal form. */
export const editPlanUpdate = defineUpdate<Plan, [Plan]>(EDIT_PLAN_UPDATE);
/** Has the Conductor write another plan, and tells it why. */
export const rejectPlanUpdate = defineUpdate<null, [PlanRejection]>(REJECT_PLAN_UPDATE);
