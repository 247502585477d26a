import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import {
  PAUSE_SIGNAL,
  PROGRESS_QUERY,
  RESUME_SIGNAL,
  SET_BUDGET_UPDATE,
  STOP_SIGNAL,
} from '../../training/names';
import type { NightProgress } from '../../training/progress';
import type { NightBudget } from '../../training/train-input';

/** Begins no further cycle until it is resumed. */
export const pauseTrainingSignal = defineSignal(PAUSE_SIGNAL);
export const resumeTrainingSignal = defineSignal(RESUME_SIGNAL);
/** Ends the night after the cycle that is under way; the gate still judges what was learned. */
export const stopTrainingSignal = defineSignal(STOP_SIGNAL);
/** Changes what the rest of the night may cost and how long it may take, and returns what now holds. */
export const setBudgetUpdate = defineUpdate<NightBudget, [NightBudget]>(SET_BUDGET_UPDATE);
/** How far the night has come. */
export const progressQuery = defineQuery<NightProgress>(PROGRESS_QUERY);
