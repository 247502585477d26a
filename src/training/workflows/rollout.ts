import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { Grade } from '../../grading/verdict';
import type { Plan } from '../../plan/plan';
import type { Background } from '../../protocol/activities';
import { FAILURES } from '../../protocol/failures';
import type { SolveTrace, StepTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { emptyTrace } from '../../trace/reduce';
import { limitIn } from '../../workflows/failures';
import type { Limits } from '../../workflows/limits';
import { obtainPlan } from '../../workflows/make-plan';
import { PayloadBudget } from '../../workflows/payload-budget';
import { Recorder, type RunContext } from '../../workflows/run-context';
import { lastOutputOf, runPlan } from '../../workflows/run-plan';
import { Approval, Steering } from '../../workflows/steering';
import type { AskedQuestion, Judged, Verification } from '../../evaluation/contract';
import type { GroupInput } from '../contract';
import { GRADE_ANSWERS } from '../names';
import { rolloutIdentity } from '../night-ids';
import type { GroupPart } from '../progress';
import type { GroupPurpose, Rollout, SampledPlan } from '../rollout';
import { gradingActivities } from './activities';
import { askGrader } from '../../evaluation/workflows/ask-grader';
import { askVerifier } from './ask-verifier';
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
  const { recorder, round, depth } = context;
  recorder.record({ kind: 'plan-asked', round, depth });
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  return carryOut(context, plan);
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
    return await carryOut(context, plan);
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

async function carryOut(context: RunContext, plan: Plan): Promise<PlanOutcome> {
  await runPlan(context, plan);
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
    const judged = grades[gradable.indexOf(rollout)];
    if (typeof judged === 'object') {
      return 'verdict' in judged
        ? { ...rollout, ...judged }
        : { ...rollout, verdict: 'ungraded', invalidBecause: judged.ungradedBecause };
    }
    const withoutGrade =
      rollout.invalidBecause === null && rollout.plan === null ? 'unparseable' : 'ungraded';
    return { ...rollout, verdict: judged ?? withoutGrade };
  });
}

async function gradeAll(
  group: GroupContext,
  answers: readonly (Text | null)[],
): Promise<readonly (Judged | Grade)[]> {
  const { input, question } = group;
  const grade = gradingActivities(`grade ${answers.length} answers`)[GRADE_ANSWERS];
  const graded = await grade({ question: input.question, answers });
  if ('activity' in graded) return askGrader(graded, { question, answers, window: input.window });
  return graded.every(isJudged) ? graded : verifyAll(group, graded);
}

function isJudged(judged: Judged | Grade | Verification): judged is Judged | Grade {
  return typeof judged !== 'object' || !('prompt' in judged);
}

/** Verifies each distinct answer once. */
function verifyAll(
  group: GroupContext,
  graded: readonly (Judged | Grade | Verification)[],
): Promise<readonly (Judged | Grade)[]> {
  const { verifier, window } = group.input;
  const asked = new Map<string, Promise<Judged>>();
  return inWindow(graded, window, (judged, index) => {
    if (isJudged(judged)) return Promise.resolve(judged);
    if (verifier === undefined) return Promise.resolve(NO_VERIFIER);
    const context = rolloutContext(group, index, 0);
    const identity = `${context.identity ?? ''}/${verifier.id}`;
    const verdict = asked.get(judged.correct) ?? askVerifier({ ...context, identity }, verifier, judged);
    asked.set(judged.correct, verdict);
    return verdict;
  });
}

const NO_VERIFIER: Judged = { ungradedBecause: 'no verifier is configured' };

export interface GroupContext {
  readonly input: GroupInput;
  /** Of the whole group. */
  readonly limits: Limits;
  readonly question: AskedQuestion;
  readonly watch: Stopwatch<GroupPart>;
}

/** A rollout as a run of its own, so that the very code of a solve carries it out. */
function rolloutContext(
  { input, limits, question }: GroupContext,
  rollout: number,
  round: 0 | 1,
  background: readonly Background[] = [],
): RunContext {
  const { trainRun, purpose, cycle, draw, run } = input;
  const { workflowId, runId } = workflowInfo();
  const trace = emptyTrace({ id: `${workflowId}/${rollout}`, runId, question: question.text });
  return {
    input: { question: question.text },
    question: question.text,
    run: { ...run, recursion: 'never' },
    limits,
    steering: new Steering(),
    approval: new Approval(),
    payloads: new PayloadBudget(),
    recorder: new Recorder(trace, () => undefined),
    depth: 0,
    rootId: workflowId,
    round,
    background,
    identity: rolloutIdentity({ trainRun, purpose, cycle, question: question.id, draw, rollout }),
  };
}
