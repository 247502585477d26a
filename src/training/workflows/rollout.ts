import { ApplicationFailure } from '@temporalio/workflow';
import type { Grade } from '../../grading/verdict';
import type { Plan } from '../../plan/plan';
import type { Background } from '../../protocol/activities';
import { FAILURES } from '../../protocol/failures';
import type { SolveTrace, StepTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { limitIn } from '../../workflows/failures';
import type { Limits } from '../../workflows/limits';
import { obtainPlan } from '../../workflows/make-plan';
import type { RunContext } from '../../workflows/run-context';
import { lastOutputOf, runPlan } from '../../workflows/run-plan';
import type { AskedQuestion, RuleGrade } from '../../evaluation/contract';
import type { GroupInput } from '../contract';
import { rolloutIdentity } from '../night-ids';
import type { GroupPart } from '../progress';
import type { GroupPurpose, Rollout, SampledPlan } from '../rollout';
import { askVerifier, verifiedGrade, type VerifierReply } from '../../evaluation/workflows/ask-verifier';
import { gradeAnswers } from '../../evaluation/workflows/grade-answers';
import { runGiven, runWithin } from '../../evaluation/workflows/run-within';
import { inWindow } from '../../workflows/in-window';
import type { Stopwatch } from './night';

export interface Root {
  readonly index: number;
  readonly plan: Plan;
  readonly answer: Text;
}

export type Played = Omit<Rollout, 'index' | 'reward'>;
type NotJudged = Omit<Played, 'verdict'>;

type PlanOutcome = Pick<Rollout, 'plan' | 'answer' | 'usage' | 'nanoUsd' | 'invalidBecause'>;

/** Has the plans of a round carried out and judged; in a second round each reviews one of `roots`. */
export function playSampled(
  group: GroupContext,
  plans: readonly SampledPlan[],
  roots: readonly Root[] | null,
): Promise<readonly Played[]> {
  return play(group, plans, async (sampled, index) => {
    const root = roots?.[index] ?? null;
    const outcome = await runSampled(group, sampled.plan, index, root);
    return { ...sampled, ...outcome, root: root?.index ?? index };
  });
}

/** Has the prompted Conductor plan and solve, once for each place, as in a solve that is served. */
export function playPrompted(group: GroupContext): Promise<readonly Played[]> {
  const places = Array.from({ length: group.input.plans }, (_, index) => index);
  return play(group, places, async (index) => {
    const outcome = await runPrompted(rolloutContext(group, index, 0), group.input.purpose);
    return { problem: null, ...outcome, tokens: 0, root: index };
  });
}

async function play<Item>(
  group: GroupContext,
  items: readonly Item[],
  run: (item: Item, index: number) => Promise<NotJudged>,
): Promise<readonly Played[]> {
  const { input, watch } = group;
  return judge(group, await watch.time('rollouts', () => inWindow(items, input.window, run)));
}

/** Throws only the group's own cancellation. */
async function runSampled(
  group: GroupContext,
  plan: Plan | null,
  index: number,
  root: Root | null,
): Promise<PlanOutcome> {
  if (plan === null) return { ...NOT_RUN, plan };
  // Three empty lists: the first answer is accepted.
  if (plan.steps.length === 0) return { ...NOT_RUN, plan, answer: root?.answer ?? null };
  const background = root === null ? [] : [{ subtask: null, output: root.answer }];
  const context = rolloutContext(group, root?.index ?? index, root === null ? 0 : 1, background);
  await runGiven(context, plan);
  return outcomeOf(context, plan);
}

async function runPrompted(
  context: RunContext,
  purpose: GroupPurpose,
): Promise<PlanOutcome & Partial<Pick<Rollout, 'problem'>>> {
  try {
    const { plan } = await obtainPlan(context);
    const { trace } = context.recorder;
    // The plan that stands in for the Conductor's is nothing to imitate.
    if (purpose === 'examples' && trace.degraded) return { ...withoutPlan(trace), ...costOf(trace) };
    await runPlan(context, plan);
    return outcomeOf(context, plan);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || !saysNothing(error.type ?? '')) throw error;
    return { ...NOT_RUN, invalidBecause: error.message, ...costOf(context.recorder.trace) };
  }
}

/** Whether a failure says nothing about a plan: a limit of ours, or a Conductor that cannot be asked as configured. */
function saysNothing(type: string): boolean {
  return limitIn(type) !== null || type === FAILURES.configuration;
}

/** A reply that is no plan is the Conductor's own doing; a provider's failure is not. */
function withoutPlan({ calls }: SolveTrace): PlanOutcome & Pick<Rollout, 'problem'> {
  const error = calls.at(-1)?.error;
  const reason = error?.message ?? 'the Conductor wrote no plan';
  return error?.type === FAILURES.planInvalid
    ? { ...NOT_RUN, problem: reason }
    : { ...NOT_RUN, problem: null, invalidBecause: reason };
}

function outcomeOf(context: RunContext, plan: Plan): PlanOutcome {
  const { trace } = context.recorder;
  return { plan, answer: lastOutputOf(context), invalidBecause: findFault(trace), ...costOf(trace) };
}

const NOT_RUN: PlanOutcome = {
  plan: null,
  answer: null,
  invalidBecause: null,
  usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
  nanoUsd: 0,
};

/** Failures that a plan may be judged by, since they are the worker's own. */
const OWN_DOING: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** Why a rollout says nothing about its plan: a provider failed, or a limit was reached. */
function findFault({ rounds }: SolveTrace): string | null {
  const steps = rounds.flatMap((round): readonly StepTrace[] => round.steps);
  const failed = steps.find(({ error }) => error !== null && !OWN_DOING.has(error.type));
  return failed?.error?.message ?? null;
}

function costOf({ usage, calls }: SolveTrace): Pick<Rollout, 'usage' | 'nanoUsd'> {
  const amounts = calls.map(({ nanoUsd }) => nanoUsd);
  const known = amounts.filter((amount) => amount !== null);
  const nanoUsd = known.length === amounts.length ? known.reduce((sum, amount) => sum + amount, 0) : null;
  return { usage, nanoUsd };
}

/** A provider's failure, or a limit of ours, is never counted against a plan. */
async function judge(group: GroupContext, rollouts: readonly NotJudged[]): Promise<readonly Played[]> {
  const gradable = rollouts.filter(({ plan, invalidBecause }) => plan !== null && invalidBecause === null);
  const answers = gradable.map(({ answer }) => answer);
  const grades =
    answers.length === 0 ? [] : await group.watch.time('grading', () => gradeAll(group, answers));
  return rollouts.map((rollout) => {
    const grade = grades[gradable.indexOf(rollout)];
    if (grade === undefined) {
      const isNoPlan = rollout.invalidBecause === null && rollout.plan === null;
      return { ...rollout, verdict: isNoPlan ? 'unparseable' : 'ungraded' };
    }
    const { verdict, extracted, reason, graderVersion } = grade;
    if (verdict === 'ungraded') return { ...rollout, verdict, invalidBecause: reason };
    // Only a plan can be unparseable: an answer that settles on nothing is wrong.
    return {
      ...rollout,
      verdict: verdict === 'correct' ? verdict : 'wrong',
      extracted,
      reason,
      graderVersion,
    };
  });
}

async function gradeAll(group: GroupContext, answers: readonly (Text | null)[]): Promise<readonly Grade[]> {
  const { input, question } = group;
  const grading = { ref: input.question, question, window: input.window, verifies: true };
  const grades = await gradeAnswers(grading, answers);
  return grades.some(({ verification }) => verification) ? verifyAll(group, grades) : grades;
}

/** Verifies each distinct answer once. */
function verifyAll(group: GroupContext, grades: readonly RuleGrade[]): Promise<readonly Grade[]> {
  const { verifier, window, run } = group.input;
  const asked = new Map<string, Promise<VerifierReply>>();
  return inWindow(grades, window, async (grade, index) => {
    const { verification } = grade;
    if (verification === undefined) return grade;
    if (verifier === undefined) return { ...grade, verdict: 'ungraded', reason: 'no verifier is configured' };
    const { prompt, correct } = verification;
    const identity = `${identityOf(group, index)}/${verifier.id}`;
    const { limits } = group;
    const reply =
      asked.get(correct) ?? askVerifier({ verifier, prompt, run, limits, name: `${index}`, identity });
    asked.set(correct, reply);
    return verifiedGrade(grade, verifier, await reply);
  });
}

export interface GroupContext {
  readonly input: GroupInput;
  /** Of the whole group. */
  readonly limits: Limits;
  readonly question: AskedQuestion;
  readonly watch: Stopwatch<GroupPart>;
}

/** A rollout as a run of its own. */
function rolloutContext(
  group: GroupContext,
  rollout: number,
  round: 0 | 1,
  background: readonly Background[] = [],
): RunContext {
  const { input, limits, question } = group;
  return runWithin(`${rollout}`, {
    question: question.text,
    run: { ...input.run, recursion: 'never' },
    limits,
    round,
    background,
    identity: identityOf(group, rollout),
  });
}

function identityOf({ input, question }: GroupContext, rollout: number): string {
  const { trainRun, purpose, cycle, draw } = input;
  return rolloutIdentity({ trainRun, purpose, cycle, question: question.id, draw, rollout });
}
