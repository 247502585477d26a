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
import { isOwnCancellation, Limits } from '../../workflows/parts';
import { conductorFor, workersFor } from '../cast';
import { seedOf } from '../../statistics/chance';
import {
  type Answers,
  type Judging,
  type OpenedQuestion,
  type QuestionInput,
  type RuleGrade,
  slugOf,
} from '../contract';
import type { MethodRecord } from '../results';
import { askVerifier, obtainGrades, type VerifierReply } from './grading';

export interface SolveRun {
  readonly id: string;
  readonly trace: SolveTrace | null;
  readonly problem: Problem | null;
  readonly latencyMs: number;
}

/** Grade of an answer by rule, with the verdicts on the outputs that led to it. */
export type GradeWithSteps = RuleGrade & Pick<MethodRecord, 'outputs'>;

export interface MethodResult {
  readonly runs: readonly SolveRun[];
  readonly answer: Text | null;
  /** Set if the answer was graded already, to count votes. */
  readonly grade?: GradeWithSteps | undefined;
  /** Why there is no answer to judge, though no solve failed. */
  readonly reason?: string;
}

export function nothingOf(reason: string): MethodResult {
  return { runs: [], answer: null, reason };
}

interface SolveOptions extends Pick<SolveInput, 'given' | 'conductor'> {
  readonly limits: LimitsInput;
  readonly form?: Form | undefined;
  readonly recursion?: ResolvedRun['recursion'] | undefined;
  /** Name of the additional Conductor that writes the plan. */
  readonly named?: string | undefined;
  readonly part?: number | undefined;
}

interface GivenPlanOptions extends Pick<SolveOptions, 'part' | 'form'> {
  readonly outputs?: Answers;
}

/** Returns the run with models that get only the question and their own instructions, without mention of a team. */
function withPlainLayout(run: ResolvedRun): ResolvedRun {
  const workers = run.workers.map((card) =>
    card.kind === 'model' ? { ...card, layout: 'plain' as const } : card,
  );
  return { ...run, workers };
}

/** Answers that a custom grader judges in parallel. */
const AT_ONCE = 8;

/** A question on which methods are tried in turn, with its solves, budget and grader. */
export class QuestionContext {
  /** Spent by this run of the workflow; an unknown cost counts at its maximum. */
  spentNanoUsd = 0;

  constructor(
    readonly input: QuestionInput,
    readonly question: OpenedQuestion,
  ) {}

  /** Differs for each try, since models that take a seed would otherwise repeat themselves. */
  get seed(): number {
    const { seed } = this.input;
    const { repeat } = this.question;
    return repeat === undefined ? seed : seedOf(seed, repeat);
  }

  /** Returns how a worker is prompted: custom activities and workflows always get a subtask, as in a team. */
  formOf(worker: string, wanted: Form = 'bare'): Form {
    const card = workersFor(this.input, worker).find(({ id }) => id === worker);
    return card?.kind === 'model' ? wanted : 'team';
  }

  /** Solves the question in a child workflow; null if the question's budget ran out. */
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

  /** Solves the question with a given plan. `outputs` are those already known, by step. */
  runPlan(
    method: string,
    plan: Plan,
    { outputs = plan.steps.map(() => null), ...how }: GivenPlanOptions = {},
  ): Promise<SolveRun | null> {
    const limits = { steps: plan.steps.length, depth: 0 };
    return this.solve(method, { given: { plan, outputs }, limits, ...how });
  }

  /** Has the verifier judge; null if the question's budget ran out. */
  ask(verifier: ModelCard, judging: Judging, name: string): Promise<VerifierReply | null> {
    const { run } = this.input;
    return this.pay(async (most) => {
      // The time limit is for this call, not for the whole question.
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
    return obtainGrades({ ref: input.question, question, window: AT_ONCE }, answers, onTheWay);
  }

  /** Runs paid work, with a cost limit if less is left than a run may cost; null if the budget ran out. */
  private async pay<Result>(
    work: (mostNanoUsd: number | null) => Promise<{
      readonly result: Result;
      /** 10⁻⁹ USD; null if it left no trace, so that its full limit counts. */
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
