import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURES } from '../../protocol/failures';
import { MAX_COST_USD } from '../../protocol/messages';
import type { NightBudget } from '../input';
import { PAUSE_SIGNAL, PROGRESS_QUERY, RESUME_SIGNAL, SET_BUDGET_UPDATE, STOP_SIGNAL } from '../names';
import type { NightProgress } from '../progress';
import type { Night, NightControl } from './night';

/** Begins no further cycle until it is resumed. */
export const pauseTrainingSignal = defineSignal(PAUSE_SIGNAL);
export const resumeTrainingSignal = defineSignal(RESUME_SIGNAL);
/** Ends the night after the cycle that is under way; the gate still judges what was learned. */
export const stopTrainingSignal = defineSignal(STOP_SIGNAL);
/** Changes what the rest of the night may cost and how long it may take, and returns what now holds. */
export const setBudgetUpdate = defineUpdate<NightBudget, [NightBudget]>(SET_BUDGET_UPDATE);
/** How far the night has come. */
export const progressQuery = defineQuery<NightProgress>(PROGRESS_QUERY);

/** What tells how far a night has come. */
export interface ProgressSource {
  /** From here on there is a night to tell of. */
  follow(night: Pick<Night, 'progress'>): void;
}

/** Hears what a night is told, from its first moment on, and answers how far it has come. */
export function listen(orders: NightControl, date: string): ProgressSource {
  let followed: Pick<Night, 'progress'> = { progress: () => notOpened(date) };
  setHandler(pauseTrainingSignal, () => {
    orders.isPaused = true;
  });
  setHandler(resumeTrainingSignal, () => {
    orders.isPaused = false;
  });
  setHandler(stopTrainingSignal, () => {
    orders.isStopped = true;
  });
  setHandler(setBudgetUpdate, (budget) => orders.changeBudget(budget), {
    validator: (budget) => {
      const problem = findBudgetProblem(budget);
      if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FAILURES.badMessage);
    },
  });
  setHandler(progressQuery, () => followed.progress());
  return {
    follow: (night) => {
      followed = night;
    },
  };
}

function notOpened(date: string): NightProgress {
  return {
    trainRun: '',
    night: date,
    status: 'running',
    cycles: { first: 0, last: 0 },
    done: 0,
    phase: 'opening',
    spentNanoUsd: 0,
    startedAt: workflowInfo().startTime.toISOString(),
    rewards: [],
    best: null,
    warning: null,
  };
}

const MAX_HOURS = 24 * 7;

/** What is wrong with a budget that somebody sends to a night, in one sentence; null where nothing is. */
function findBudgetProblem(budget: unknown): string | null {
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget)) {
    return `a budget is an object { costUsd?, hours? }, not ${JSON.stringify(budget)}`;
  }
  const unknown = Object.keys(budget).filter((key) => key !== 'costUsd' && key !== 'hours');
  if (unknown.length > 0) return `a budget has no ${unknown.join(', ')}: name costUsd, hours, or both`;
  const { costUsd, hours } = budget as { costUsd?: unknown; hours?: unknown };
  if (costUsd !== undefined && costUsd !== null && !isWithin(costUsd, 0, MAX_COST_USD)) {
    return `costUsd is ${JSON.stringify(costUsd)}: expected a number from 0 to ${MAX_COST_USD}, or null for no limit`;
  }
  if (hours !== undefined && !isWithin(hours, 0, MAX_HOURS)) {
    return `hours is ${JSON.stringify(hours)}: expected a number from 0 to ${MAX_HOURS}`;
  }
  return null;
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}
