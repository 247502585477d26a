import {
  ChildWorkflowCancellationType,
  executeChild,
  ParentClosePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { Plan } from '../../plan/plan';
import type { LimitsInput, SolveInput } from '../../protocol/input';
import type { Problem, SolveTrace } from '../../protocol/solve';
import type { ModelCard, ResolvedRun } from '../../protocol/cards';
import type { Form } from '../methods/method';
import { SOLVE_PART_WORKFLOW } from '../../protocol/names';
import type { Text } from '../../protocol/text';
import { failedChild } from '../../trace/events';
import { isOwnCancellation } from '../../workflows/failures';
import { Limits } from '../../workflows/limits';
import { conductorFor, workersFor } from '../cast';
import { seedOf } from '../chance';
import {
  type Answers,
  type Judging,
  type OpenedQuestion,
  type QuestionInput,
  type RuleGrade,
  slugOf,
} from '../contract';
import type { MethodRecord } from '../results';
import { askVerifier, gradeAnswers, type VerifierReply } from './grading';

export interface SolveRun {
  readonly id: string;
  readonly trace: SolveTrace | null;
  readonly problem: Problem | null;
  readonly latencyMs: number;
}

/** A rule's grade of an answer, and those of the outputs that led to it. */
export type GradeWithSteps = RuleGrade & Pick<MethodRecord, 'outputs'>;

export interface MethodResult {
  readonly runs: readonly SolveRun[];
  readonly answer: Text | null;
  /** Set where the answer was graded on the way. */
  readonly grade?: GradeWithSteps | undefined;
  /** Why there is nothing to be judged, though no solve of it failed. */
  readonly reason?: string;
}

export function nothingOf(reason: string): MethodResult {
  return { runs: [], answer: null, reason };
}

interface SolveOptions extends Pick<SolveInput, 'given' | 'conductor'> {
  readonly limits: LimitsInput;
  readonly form?: Form | undefined;
  readonly recursion?: ResolvedRun['recursion'] | undefined;
  /** Which further Conductor writes the plan. */
  readonly named?: string | undefined;
  readonly part?: number | undefined;
}

interface GivenPlanOptions extends Pick<SolveOptions, 'part' | 'form'> {
  readonly outputs?: Answers;
}

/** Its models are sent what they are asked and nothing of a team, beside instructions of their own. */
function withPlainLayout(run: ResolvedRun): ResolvedRun {
  const workers = run.workers.map((card) =>
    card.kind === 'model' ? { ...card, layout: 'plain' as const } : card,
  );
  return { ...run, workers };
}

/** Answers that a grader of the user's judges together. */
const AT_ONCE = 8;

/** One question, on which methods are tried one after the other: its solves, its money and its grader. */
export class QuestionContext {
  /** By this run of the workflow; what is unknown counted at its maximum. */
  spentNanoUsd = 0;

  constructor(
    readonly input: QuestionInput,
    readonly question: OpenedQuestion,
  ) {}

  /** Another one for each try: models that take a seed would only repeat themselves. */
  get seed(): number {
    const { seed } = this.input;
    const { repeat } = this.question;
    return repeat === undefined ? seed : seedOf(seed, repeat);
  }

  /** How a worker is asked; a user's own activity or workflow reads its subtask, and always has one. */
  formOf(worker: string, wanted: Form = 'bare'): Form {
    const card = workersFor(this.input, worker).find(({ id }) => id === worker);
    return card?.kind === 'model' ? wanted : 'team';
  }

  /** Solves the question, by a solve of its own; null where the money of the question did not last for it. */
  solve(
    method: string,
    { limits, part, form = 'team', recursion, named, ...options }: SolveOptions,
  ): Promise<SolveRun | null> {
    const { id: evaluation, question, run: configured } = this.input;
    const conductor = conductorFor(this.input, named);
    const run = {
      ...configured,
      conductor,
      workers: workersFor(this.input, options.given?.plan.steps[0]?.worker),
      recursion: recursion ?? configured.recursion,
    };
    const place = `${evaluation}-${question.index + 1}-${slugOf(method)}`;
    const id = part === undefined ? place : `${place}-${part}`;
    return this.pay(async (most) => {
      const input: SolveInput = {
        ...this.question.asked,
        run: form === 'bare' ? withPlainLayout(run) : run,
        seed: this.seed,
        limits: { ...this.input.limits, ...limits, ...(most !== null && { costUsd: most / 1e9 }) },
        ...options,
      };
      const startedAt = Date.now();
      const ended = await runSolve(id, input, `${method}, question ${question.index + 1}`);
      const { spentAtMost, stoppedBy = null } = ended.trace ?? {};
      const spent = ended.trace === null ? null : (spentAtMost?.nanoUsd ?? 0);
      return { result: { id, ...ended, latencyMs: Date.now() - startedAt }, spent, stoppedBy };
    });
  }

  /** Solves the question by a given plan. `outputs` are known already, by step. */
  runPlan(
    method: string,
    plan: Plan,
    { outputs = plan.steps.map(() => null), ...how }: GivenPlanOptions = {},
  ): Promise<SolveRun | null> {
    const limits = { steps: plan.steps.length, depth: 0 };
    return this.solve(method, { given: { plan, outputs }, limits, ...how });
  }

  /** Has the verifier judge; null where the money of the question did not last for it. */
  ask(verifier: ModelCard, judging: Judging, name: string): Promise<VerifierReply | null> {
    const { run } = this.input;
    return this.pay(async (most) => {
      // The wall clock of one call, and not of the question.
      const elapsed = Date.now() - workflowInfo().runStartTime.getTime();
      const limits = new Limits({
        ...run.limits,
        wallClockMs: elapsed + run.limits.wallClockMs,
        ...(most !== null && { nanoUsd: most }),
      });
      const result = await askVerifier({ run, limits }, verifier, judging, { name });
      return { result, spent: limits.spentAtMost.nanoUsd, stoppedBy: limits.stoppedBy };
    });
  }

  grade(answers: Answers, onTheWay: Answers = []): Promise<readonly RuleGrade[]> {
    const { question, input } = this;
    return gradeAnswers({ ref: input.question, question, window: AT_ONCE }, answers, onTheWay);
  }

  /** Pays for work, told its cost limit where less is left than a run may cost; null where the budget did not last. */
  private async pay<Result>(
    work: (mostNanoUsd: number | null) => Promise<{
      readonly result: Result;
      /** 10⁻⁹ USD; null where somebody ended it, and all that it was allowed counts. */
      readonly spent: number | null;
      readonly stoppedBy: string | null;
    }>,
  ): Promise<Result | null> {
    const { nanoUsd, runNanoUsd } = this.input;
    const left = nanoUsd === null ? Infinity : nanoUsd - this.spentNanoUsd;
    if (left <= 0) return null;
    const most = left < (runNanoUsd ?? Infinity) ? left : null;
    const { result, spent, stoppedBy } = await work(most);
    this.spentNanoUsd += spent ?? most ?? runNanoUsd ?? 0;
    return most !== null && stoppedBy === 'cost' ? null : result;
  }
}

async function runSolve(
  workflowId: string,
  input: SolveInput,
  staticSummary: string,
): Promise<Pick<SolveRun, 'trace' | 'problem'>> {
  try {
    const trace = await executeChild<(input: SolveInput) => Promise<SolveTrace>>(SOLVE_PART_WORKFLOW, {
      workflowId,
      args: [input],
      parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
      staticSummary,
    });
    return { trace, problem: null };
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    return failedChild(error, workflowId);
  }
}
