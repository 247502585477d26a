import {
  ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  setHandler,
  type SignalDefinition,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURES } from '../../protocol/failures';
import { LIMIT_RULES, MAX_MESSAGES } from '../../protocol/messages';
import { findFaultOfChange, number, type Rules } from '../../protocol/rules';
import { hearSignal } from '../../workflows/parts';
import type { NightBudget, NightProgress } from '../contract';
import { PAUSE_SIGNAL, NIGHT_PROGRESS_QUERY, RESUME_SIGNAL, SET_BUDGET_UPDATE, STOP_SIGNAL } from '../names';

// Signals name the night by its first run id, which encryption protects: none can be replayed to a later night.

export const pauseTrainingSignal = defineSignal<[string]>(PAUSE_SIGNAL);
export const resumeTrainingSignal = defineSignal<[string]>(RESUME_SIGNAL);
export const stopTrainingSignal = defineSignal<[string]>(STOP_SIGNAL);
export const setBudgetUpdate = defineUpdate<NightBudget, [NightBudget]>(SET_BUDGET_UPDATE);
export const progressQuery = defineQuery<NightProgress>(NIGHT_PROGRESS_QUERY);

const BUDGET: Rules<NightBudget> = { costUsd: LIMIT_RULES.costUsd, hours: number(0, 24 * 7) };

/** Users' requests to a night, possibly before it is opened. */
export class NightControl {
  night: { describeBudget(): NightBudget; progress(): NightProgress } | null = null;
  date = '';
  /** null: no signal has come yet, so the state carried over from the previous run applies. */
  isPaused: boolean | null = null;
  isStopped = false;
  budget: NightBudget = {};

  whenResumed(): Promise<void> {
    return condition(() => this.isPaused !== true || this.isStopped);
  }
}

/** Handles a night's messages, even before it is opened. */
export function handleNightMessages(control: NightControl): void {
  const { firstExecutionRunId } = workflowInfo();
  const hear = (signal: SignalDefinition<[string]>, obey: () => void): void => {
    hearSignal(signal, MAX_MESSAGES, (night) => {
      if (night !== firstExecutionRunId) return `expected this night's first run id, ${firstExecutionRunId}`;
      obey();
      return null;
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
      const problem = findFaultOfChange(SET_BUDGET_UPDATE, budget, BUDGET);
      if (problem !== null) throw ApplicationFailure.nonRetryable(problem, FAILURES.badMessage);
    },
  });
  setHandler(progressQuery, () => control.night?.progress() ?? notOpened(control.date));
}

function notOpened(date: string): NightProgress {
  const startedAt = workflowInfo().startTime.toISOString();
  const nothing = { done: 0, spentNanoUsd: 0, rewards: [], best: null, warning: null };
  const cycles = { first: 0, last: 0 };
  return { trainRun: '', night: date, status: 'running', cycles, phase: 'opening', startedAt, ...nothing };
}
