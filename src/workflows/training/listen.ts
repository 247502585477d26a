import { ApplicationFailure, setHandler, workflowInfo } from '@temporalio/workflow';
import { FAILURES } from '../../protocol/failures';
import { findBudgetProblem } from '../../training/night-budget';
import type { NightProgress } from '../../training/progress';
import {
  pauseTrainingSignal,
  progressQuery,
  resumeTrainingSignal,
  setBudgetUpdate,
  stopTrainingSignal,
} from './messages';
import type { Night } from './night';
import type { Orders } from './orders';

/** What tells how far a night has come. */
export interface Teller {
  /** From here on there is a night to tell of. */
  follow(night: Pick<Night, 'progress'>): void;
}

/** Hears what a night is told, from its first moment on, and answers how far it has come. */
export function listen(orders: Orders, date: string): Teller {
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
