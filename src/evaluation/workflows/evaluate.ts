import {
  ChildWorkflowCancellationType,
  condition,
  defineQuery,
  executeChild,
  ParentClosePolicy,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { type BudgetShare, SharedBudget } from '../../budget/shared-budget';
import {
  type EvaluateInput,
  EVALUATION_PRIORITY,
  type EvaluationProgress,
  EVALUATION_PROGRESS_QUERY,
  QUESTION_WORKFLOW,
  type QuestionInput,
  type QuestionOutcome,
} from '../contract';
import { checkEvaluation } from './check-input';
import { moveOn, shouldMoveOn } from './move-on';

export const evaluationProgressQuery = defineQuery<EvaluationProgress>(EVALUATION_PROGRESS_QUERY);

/**
 * Workflow `conductorEvaluate`: tries every method on every question, with a child workflow for each question and
 * `window` of them at once. Results are in the store, so that an evaluation restarted with the same id reuses them.
 */
export async function conductorEvaluate(input: EvaluateInput): Promise<EvaluationProgress> {
  checkEvaluation(input);
  const evaluation = new Evaluation(input);
  setHandler(evaluationProgressQuery, () => evaluation.progress);
  const lanes = Array.from({ length: Math.min(input.window, input.questions) }, () => evaluation.workOn());
  const ends = await Promise.allSettled(lanes);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  if (evaluation.isOver) return evaluation.progress;
  return moveOn<typeof conductorEvaluate>({ ...input, carried: evaluation.progress });
}

class Evaluation {
  progress: EvaluationProgress;
  private readonly budget: SharedBudget;
  private hasFailed = false;

  constructor(private readonly input: EvaluateInput) {
    this.progress = input.carried ?? {
      begun: 0,
      done: 0,
      spentNanoUsd: 0,
      startedAt: workflowInfo().startTime.getTime(),
      scores: input.methods.map(() => ({ correct: 0, graded: 0 })),
      stoppedBy: null,
    };
    this.budget = new SharedBudget(input.nanoUsd, this.progress.spentNanoUsd);
  }

  get isOver(): boolean {
    return this.progress.begun >= this.input.questions || this.progress.stoppedBy !== null;
  }

  async workOn(): Promise<void> {
    while (!this.isOver && !this.hasFailed && !shouldMoveOn()) {
      const index = this.progress.begun;
      this.progress = { ...this.progress, begun: index + 1 };
      try {
        await this.ask(index);
      } catch (error) {
        this.hasFailed = true;
        throw error;
      }
    }
  }

  /** Runs a question; if its share runs out, retries once with all of the remaining budget. */
  private async ask(index: number): Promise<void> {
    for (const isAlone of [false, true]) {
      const share = await this.takeShare(isAlone);
      const outcome = share && (await this.askFor(index, share));
      if (outcome !== null && !outcome.verdicts.includes(null)) {
        this.book(outcome);
        return;
      }
    }
    this.progress = { ...this.progress, stoppedBy: 'cost' };
  }

  /**
   * Reserves money for a question: at least twice the highest cost of a question so far plus one run at its limit. If
   * less is left, waits for the other questions to end and takes the rest; null if nothing is left.
   */
  private async takeShare(isAlone: boolean): Promise<BudgetShare | null> {
    const { budget, input } = this;
    for (;;) {
      const usual = Math.max(1, 2 * budget.highestSpent + (input.runNanoUsd ?? 0));
      const share = budget.share(input.window, isAlone ? Infinity : usual);
      if (share !== null || budget.underWay === 0) return share;
      const { changes } = budget;
      await condition(() => budget.changes > changes);
    }
  }

  private async askFor(index: number, share: BudgetShare): Promise<QuestionOutcome> {
    let spent: number | null = null;
    try {
      const outcome = await askAbout(this.input, index, share.nanoUsd);
      spent = outcome.spentNanoUsd;
      return outcome;
    } finally {
      share.settle(spent);
      this.progress = { ...this.progress, spentNanoUsd: this.budget.spent };
    }
  }

  private book({ verdicts }: QuestionOutcome): void {
    const { progress } = this;
    const scores = progress.scores.map(({ correct, graded }, place) => {
      const verdict = verdicts[place] ?? 'ungraded';
      return {
        correct: correct + Number(verdict === 'correct'),
        graded: graded + Number(verdict !== 'ungraded'),
      };
    });
    this.progress = { ...progress, done: progress.done + 1, scores };
  }
}

/** Runs a question at the lowest priority, behind people who wait; its solves inherit the priority. */
function askAbout(input: EvaluateInput, index: number, nanoUsd: number | null): Promise<QuestionOutcome> {
  const question: QuestionInput = { ...input, question: { set: input.set, index }, nanoUsd };
  return executeChild(QUESTION_WORKFLOW, {
    workflowId: `${input.id}-${index + 1}`,
    args: [question],
    priority: { priorityKey: EVALUATION_PRIORITY },
    parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    staticSummary: `question ${index + 1}`,
  });
}
