import { ApplicationFailure } from '@temporalio/workflow';
import type { Grade } from '../../grading/verdict';
import type { Plan } from '../../plan/plan';
import type { Background } from '../../protocol/activity-contract';
import type { ModelCard } from '../../protocol/cards';
import { FAILURES } from '../../protocol/failures';
import type { ResolvedRun } from '../../protocol/run';
import type { SolveTrace, StepTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { limitIn } from '../../workflows/failures';
import { inWindow } from '../../workflows/in-window';
import type { Limits } from '../../workflows/limits';
import { obtainPlan } from '../../workflows/make-plan';
import type { RunContext } from '../../workflows/run-context';
import { lastOutputOf, runPlan } from '../../workflows/run-plan';
import type { AskedQuestion, QuestionRef, RuleGrade } from '../contract';
import type { Attempt } from '../records';
import { sumOfAll } from '../statistics';
import { askVerifier, verifiedGrade, type VerifierReply } from './ask-verifier';
import { gradeAnswers } from './grade-answers';
import { runGiven, runWithin } from './run-within';

/** A question, and what its attempts share. */
export interface Attempts {
  readonly ref: QuestionRef;
  readonly question: AskedQuestion;
  readonly run: ResolvedRun;
  readonly limits: Limits;
  /** Attempts, and calls of graders, under way at once. */
  readonly window: number;
  readonly verifier: ModelCard | undefined;
  /** Names the calls of an attempt, whatever process makes them. */
  readonly identityOf: (attempt: number) => string;
}

export type Ungraded = Omit<Attempt, 'verdict'>;

/** Carries out a plan that is given. Throws only the workflow's own cancellation. */
export async function playPlan(
  attempts: Attempts,
  plan: Plan,
  attempt: number,
  reviewed: Text | null = null,
): Promise<Ungraded> {
  const background = reviewed === null ? [] : [{ subtask: null, output: reviewed }];
  const context = contextOf(attempts, attempt, background);
  await runGiven(context, plan);
  return outcomeOf(context, plan);
}

/**
 * Has the prompted Conductor plan and carries that out, as in a solve that is served.
 *
 * @param isImitated the plan that stands in for the Conductor's is then none: it is nothing to imitate
 */
export async function playPrompted(
  attempts: Attempts,
  attempt: number,
  isImitated: boolean,
): Promise<Ungraded> {
  const context = contextOf(attempts, attempt, []);
  const { recorder } = context;
  try {
    const { plan } = await obtainPlan(context);
    if (isImitated && recorder.trace.degraded) return withoutPlan(recorder.trace);
    await runPlan(context, plan);
    return outcomeOf(context, plan);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || !saysNothing(error.type ?? '')) throw error;
    return { ...NOT_PLAYED, invalidBecause: error.message, ...costOf(recorder.trace) };
  }
}

export const NOT_PLAYED: Ungraded = {
  plan: null,
  problem: null,
  answer: null,
  invalidBecause: null,
  usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
  nanoUsd: 0,
};

/** Grades attempts. A provider's failure, or a limit of ours, is never counted against a plan. */
export async function gradeAttempts<Result extends Ungraded>(
  attempts: Attempts,
  played: readonly Result[],
): Promise<readonly (Result & Attempt)[]> {
  const gradable = played.filter(({ plan, invalidBecause }) => plan !== null && invalidBecause === null);
  const answers = gradable.map(({ answer }) => answer);
  const grades = answers.length === 0 ? [] : await verifyAll(attempts, await gradeAnswers(attempts, answers));
  return played.map((each) => ({ ...each, ...verdictOn(each, grades[gradable.indexOf(each)]) }));
}

type VerdictOn = Pick<Attempt, 'verdict'> &
  Partial<Pick<Attempt, 'extracted' | 'reason' | 'graderVersion' | 'invalidBecause'>>;

function verdictOn({ plan, invalidBecause }: Ungraded, grade: Grade | undefined): VerdictOn {
  if (grade === undefined) {
    return { verdict: plan === null && invalidBecause === null ? 'unparseable' : 'ungraded' };
  }
  const { verdict, extracted, reason, graderVersion } = grade;
  if (verdict === 'ungraded') return { verdict, invalidBecause: reason };
  // Only a plan can be unparseable: an answer that settles on nothing is wrong.
  return { verdict: verdict === 'correct' ? verdict : 'wrong', extracted, reason, graderVersion };
}

/** Verifies each distinct answer once. */
function verifyAll(
  { verifier, window, run, limits, identityOf }: Attempts,
  grades: readonly RuleGrade[],
): Promise<readonly Grade[]> {
  const asked = new Map<string, Promise<VerifierReply>>();
  return inWindow(grades, window, async (grade, index) => {
    const { verification } = grade;
    if (verification === undefined || verifier === undefined) return grade;
    const { prompt, correct } = verification;
    const identity = `${identityOf(index)}/${verifier.id}`;
    const reply =
      asked.get(correct) ?? askVerifier({ verifier, prompt, run, limits, name: `${index}`, identity });
    asked.set(correct, reply);
    return verifiedGrade(grade, verifier, await reply);
  });
}

/** An attempt as a run of its own; one that is shown an answer reviews it. */
function contextOf(
  { question, run, limits, identityOf }: Attempts,
  attempt: number,
  background: readonly Background[],
): RunContext {
  return runWithin(`${attempt}`, {
    question: question.text,
    run: { ...run, recursion: 'never' },
    limits,
    round: background.length === 0 ? 0 : 1,
    background,
    identity: identityOf(attempt),
  });
}

function outcomeOf(context: RunContext, plan: Plan): Ungraded {
  const { trace } = context.recorder;
  const answer = lastOutputOf(context);
  return { plan, problem: null, answer, invalidBecause: findFault(trace), ...costOf(trace) };
}

/** Whether a failure says nothing about a plan: a limit of ours, or a Conductor that cannot be asked as configured. */
function saysNothing(type: string): boolean {
  return limitIn(type) !== null || type === FAILURES.configuration;
}

/** A reply that is no plan is the Conductor's own doing; a provider's failure is not. */
function withoutPlan(trace: SolveTrace): Ungraded {
  const error = trace.calls.at(-1)?.error;
  const reason = error?.message ?? 'the Conductor wrote no plan';
  const isOwn = error?.type === FAILURES.planInvalid;
  return { ...NOT_PLAYED, ...(isOwn ? { problem: reason } : { invalidBecause: reason }), ...costOf(trace) };
}

/** Failures that a plan or a method may be judged by, since they are the models' own. */
export const OWN_FAILURES: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** Why an attempt says nothing about its plan: a provider failed, or a limit was reached. */
function findFault({ rounds }: SolveTrace): string | null {
  const steps = rounds.flatMap((round): readonly StepTrace[] => round.steps);
  const failed = steps.find(({ error }) => error !== null && !OWN_FAILURES.has(error.type));
  return failed?.error?.message ?? null;
}

function costOf({ usage, calls }: SolveTrace): Pick<Attempt, 'usage' | 'nanoUsd'> {
  return { usage, nanoUsd: sumOfAll(calls.map(({ nanoUsd }) => nanoUsd)) };
}
