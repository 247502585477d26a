import { ApplicationFailure } from '@temporalio/workflow';
import type { Plan } from '../../plan/plan';
import type { ModelCard, ResolvedRun } from '../../protocol/cards';
import { FAILURES } from '../../protocol/failures';
import type { SolveTrace, StepTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import {
  lastOutputOf,
  limitIn,
  type Limits,
  obtainPlan,
  type RunContext,
  runGiven,
  runPlan,
  runWithin,
} from '../../workflows/parts';
import { reasonOf } from '../../errors';
import type { AskedQuestion, QuestionRef } from '../contract';
import type { Attempt } from '../results';
import { toolCallsIn } from '../spent';
import { sumOfAll } from '../../statistics/statistics';

/** A question, and the settings that its attempts share. */
export interface Attempts {
  readonly ref: QuestionRef;
  readonly question: AskedQuestion;
  readonly run: ResolvedRun;
  readonly limits: Limits;
  readonly window: number;
  readonly verifier: ModelCard | undefined;
  /** Span that their own hang below; absent: one that all processes derive from the id of the workflow. */
  readonly traceparent?: string | undefined;
  readonly identityOf: (attempt: number) => string;
}

export type Ungraded = Omit<Attempt, 'verdict'>;

/** Carries out a given plan. Throws only the workflow's own cancellation. */
export async function playPlan(
  attempts: Attempts,
  plan: Plan,
  attempt: number,
  reviewed: Text | null = null,
): Promise<Ungraded> {
  const context = contextOf(attempts, attempt, reviewed);
  await runGiven(context, plan);
  return ungradedAttempt(context, plan);
}

/**
 * Has the prompted Conductor plan, and carries out the plan as in a served solve. With `isImitated`, a stand-in plan
 * counts as none.
 */
export async function playPromptedPlan(
  attempts: Attempts,
  attempt: number,
  isImitated: boolean,
): Promise<Ungraded> {
  const context = contextOf(attempts, attempt, null);
  const { recorder } = context;
  try {
    const { plan, reply } = await obtainPlan(context);
    if (isImitated && recorder.trace.degraded) return withoutPlan(recorder.trace);
    await runPlan(context, plan);
    return { ...ungradedAttempt(context, plan), ...(isImitated && { reply }) };
  } catch (error) {
    // Our own limits, and a Conductor that cannot be called as configured, say nothing about a plan.
    const type = error instanceof ApplicationFailure ? (error.type ?? '') : '';
    if (limitIn(type) === null && type !== FAILURES.configuration) throw error;
    return { ...NOT_PLAYED, invalidBecause: reasonOf(error), ...usedIn(recorder.trace) };
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

/** Returns the context of an attempt as a run of its own; with `reviewed`, it reviews that answer. */
function contextOf(
  { question, run, limits, identityOf, traceparent }: Attempts,
  attempt: number,
  reviewed: Text | null,
): RunContext {
  return runWithin(`${attempt}`, {
    question: question.text,
    conversation: question.conversation,
    run: { ...run, recursion: 'never' },
    limits,
    identity: identityOf(attempt),
    traceparent,
    ...(reviewed !== null && { round: 1, background: [{ subtask: null, output: reviewed }] }),
  });
}

function ungradedAttempt(context: RunContext, plan: Plan): Ungraded {
  const { trace } = context.recorder;
  const answer = lastOutputOf(context);
  return { plan, problem: null, answer, invalidBecause: foreignFailureIn(trace), ...usedIn(trace) };
}

/** Describes an attempt without a plan. An invalid reply counts against the Conductor, but no provider's failure. */
function withoutPlan(trace: SolveTrace): Ungraded {
  const error = trace.calls.at(-1)?.error;
  const reason = error?.message ?? 'the Conductor wrote no plan';
  const isOwn = error?.type === FAILURES.planInvalid;
  return { ...NOT_PLAYED, ...(isOwn ? { problem: reason } : { invalidBecause: reason }), ...usedIn(trace) };
}

/** Failures that count against a plan or a method, since its models caused them. */
const OWN_FAILURES: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** Returns the first step failure that does not count against the plan (provider or limit); null if there is none. */
export function foreignFailureIn({ rounds }: SolveTrace): string | null {
  const steps = rounds.flatMap((round): readonly StepTrace[] => round.steps);
  const failed = steps.find(({ error }) => error !== null && !OWN_FAILURES.has(error.type));
  return failed?.error?.message ?? null;
}

function usedIn(trace: SolveTrace): Pick<Attempt, 'usage' | 'nanoUsd' | 'toolCalls'> {
  const { usage, calls } = trace;
  const toolCalls = toolCallsIn(trace);
  return {
    usage,
    nanoUsd: sumOfAll(calls.map(({ nanoUsd }) => nanoUsd)),
    ...(toolCalls.length > 0 && { toolCalls }),
  };
}
