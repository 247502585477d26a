import {
  ApplicationFailure,
  defineQuery,
  defineSignal,
  defineUpdate,
  log,
  setHandler,
  type SignalDefinition,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURES } from '../../protocol/failures';
import { MAX_COST_USD } from '../../protocol/messages';
import type { NightBudget } from '../contract';
import { PAUSE_SIGNAL, PROGRESS_QUERY, RESUME_SIGNAL, SET_BUDGET_UPDATE, STOP_SIGNAL } from '../names';
import type { NightProgress } from '../progress';
import { show } from '../../protocol/rules';
import type { NightControl } from './night';

// These name the night by its first run id: they take the run's key where it is encrypted, and hold for that night alone.

/** Begins no further cycle until it is resumed. */
export const pauseTrainingSignal = defineSignal<[string]>(PAUSE_SIGNAL);
export const resumeTrainingSignal = defineSignal<[string]>(RESUME_SIGNAL);
/** Ends the night after the cycle that is under way; the gate still judges what was learned. */
export const stopTrainingSignal = defineSignal<[string]>(STOP_SIGNAL);
/** Changes what the rest of the night may cost and how long it may take, and returns what now holds. */
export const setBudgetUpdate = defineUpdate<NightBudget, [NightBudget]>(SET_BUDGET_UPDATE);
/** How far the night has come. */
export const progressQuery = defineQuery<NightProgress>(PROGRESS_QUERY);

/** Answers a night's messages, from before it is opened. */
export function listen(control: NightControl, date: string): void {
  const { firstExecutionRunId } = workflowInfo();
  const hear = (signal: SignalDefinition<[string]>, obey: () => void): void => {
    setHandler(signal, (night) => {
      if (night === firstExecutionRunId) obey();
      else
        log.warn(`signal ${signal.name} ignored: expected this night's first run id, ${firstExecutionRunId}`);
    });
  };
  hear(pauseTrainingSignal, () => (control.isPaused = true));
  hear(resumeTrainingSignal, () => (control.isPaused = false));
  hear(stopTrainingSignal, () => (control.isStopped = true));
  const change = (budget: NightBudget): NightBudget => {
    control.budget = { ...control.budget, ...budget };
    return control.night?.describeBudget() ?? control.budget;
  };
  setHandler(setBudgetUpdate, change, {
    validator: (budget) => {
      const problem = findBudgetProblem(budget);
      if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FAILURES.badMessage);
    },
  });
  setHandler(progressQuery, () => control.night?.progress() ?? notOpened(date));
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

/** Finds the fault of a budget, in a sentence; null: none. */
function findBudgetProblem(budget: unknown): string | null {
  if (typeof budget !== 'object' || budget === null || Array.isArray(budget)) {
    return `a budget is an object { costUsd?, hours? }, not ${show(budget)}`;
  }
  const unknown = Object.keys(budget).find((key) => key !== 'costUsd' && key !== 'hours');
  if (unknown !== undefined) return `a budget has no ${show(unknown)}: name costUsd, hours, or both`;
  const { costUsd, hours } = budget as { costUsd?: unknown; hours?: unknown };
  if (costUsd !== undefined && costUsd !== null && !isWithin(costUsd, 0, MAX_COST_USD)) {
    return `costUsd is ${show(costUsd)}: expected a number from 0 to ${MAX_COST_USD}, or null for no limit`;
  }
  if (hours !== undefined && !isWithin(hours, 0, MAX_HOURS)) {
    return `hours is ${show(hours)}: expected a number from 0 to ${MAX_HOURS}`;
  }
  return null;
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}
