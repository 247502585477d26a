import {
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
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
  PROGRESS_QUERY,
  QUESTION_WORKFLOW,
  type QuestionInput,
  type QuestionOutcome,
} from '../contract';
import { checkEvaluation } from './check-input';

export const evaluationProgressQuery = defineQuery<EvaluationProgress>(PROGRESS_QUERY);

/**
 * Workflow `conductorEvaluate`: tries every method on every question, a child workflow for each question, a window of them at
 * once. What was found lies in the store, where an evaluation of the same id that begins again finds it.
 */
export async function conductorEvaluate(input: EvaluateInput): Promise<EvaluationProgress> {
  checkEvaluation(input);
  const evaluation = new Evaluation(input);
  setHandler(evaluationProgressQuery, () => evaluation.progress);
  const lanes = Array.from({ length: Math.min(input.window, input.questions) }, () => evaluation.workOn());
  const ends = await Promise.allSettled(lanes);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  if (evaluation.isOver) return evaluation.progress;
  return continueAsNew<typeof conductorEvaluate>({ ...input, carried: evaluation.progress });
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
    while (!this.isOver && !this.hasFailed && !workflowInfo().continueAsNewSuggested) {
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

  /** A question whose share does not last is asked about once more when all that is left is its own. */
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
   * Sets money aside for a question: at least twice the most that one cost so far and one more run at its limit. Where less
   * is left, it waits for others, and takes all that there is once they are over; null where that is nothing.
   */
  private async takeShare(isAlone: boolean): Promise<BudgetShare | null> {
    const { budget, input } = this;
    for (;;) {
      const usual = Math.max(1, 2 * budget.highestSpent + (input.runNanoUsd ?? 0));
      const share = budget.share(input.window, isAlone ? Infinity : usual);
      if (share !== null || budget.underWay === 0) return share;
      const { over } = budget;
      await condition(() => budget.over > over);
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

/** Behind people who wait for an answer: the solves below inherit the priority. */
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
