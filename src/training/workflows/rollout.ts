import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import type { Plan } from '../../plan/plan';
import type { Background } from '../../protocol/activities';
import { FAILURES } from '../../protocol/failures';
import type { SolveTrace, StepTrace } from '../../protocol/solve';
import type { Text } from '../../protocol/text';
import { emptyTrace } from '../../trace/reduce';
import { limitIn } from '../../workflows/failures';
import type { Limits } from '../../workflows/limits';
import { obtainPlan } from '../../workflows/make-plan';
import { Recorder, type RunContext } from '../../workflows/run-context';
import { lastOutputOf, runPlan } from '../../workflows/run-plan';
import { Approval, Steering } from '../../workflows/steering';
import type { GroupInput, GroupPart } from '../input';
import { GRADE_ANSWERS } from '../names';
import type { Rollout, SampledPlan, Verdict } from '../rollout';
import { storeActivities } from './activities';
import { inWindow } from './in-window';
import type { Stopwatch } from './night';

/** A rollout of the first round, as the second one reviews it. */
export interface Root {
  /** Its place in the group. */
  readonly index: number;
  readonly plan: Plan;
  readonly answer: Text;
}

/** A rollout that was carried out. */
interface CarriedOut extends SampledPlan, Omit<RolloutOutcome, 'plan'> {
  readonly root: number;
}

/** A rollout that is over and judged. */
export interface Played extends CarriedOut {
  readonly verdict: Verdict;
}

/**
 * Carries out the plans of a round, a few at a time in the order of their places, and has their answers judged.
 *
 * @param roots what each plan reviews, place by place; null in the first round
 */
export async function playSampled(
  group: GroupContext,
  plans: readonly SampledPlan[],
  roots: readonly Root[] | null,
): Promise<readonly Played[]> {
  const outcomes = await playInWindow(group, plans, async (sampled, index) => {
    const root = roots?.[index] ?? null;
    return { ...(await carryOut(group, sampled, index, root)), root: root?.index ?? index };
  });
  return judge(group, outcomes);
}

/** Has the prompted Conductor plan and solves, so many times, as a solve that is served would be. */
export async function playPrompted(group: GroupContext): Promise<readonly Played[]> {
  const places = Array.from({ length: group.input.plans }, (_, index) => index);
  const outcomes = await playInWindow(group, places, async (index) => {
    const outcome = await runPrompted(rolloutContext(group, index, 0));
    return { ...outcome, problem: null, tokens: 0, root: index };
  });
  return judge(group, outcomes);
}

function playInWindow<Item>(
  { input, watch }: GroupContext,
  items: readonly Item[],
  play: (item: Item, index: number) => Promise<CarriedOut>,
): Promise<CarriedOut[]> {
  return watch.time('rollouts', () => inWindow(items, input.window, play));
}

async function carryOut(
  group: GroupContext,
  sampled: SampledPlan,
  index: number,
  root: Root | null,
): Promise<Omit<CarriedOut, 'root'>> {
  const { plan } = sampled;
  if (plan === null) return { ...sampled, ...notRun(null) };
  // Three empty lists: the answer at hand is accepted.
  if (plan.steps.length === 0) return { ...sampled, ...notRun(root?.answer ?? null) };
  const background = root === null ? [] : [{ subtask: null, output: root.answer }];
  const context = rolloutContext(group, root?.index ?? index, root === null ? 0 : 1, background);
  return { ...sampled, ...(await runSampled(context, plan)) };
}

async function judge(group: GroupContext, outcomes: readonly CarriedOut[]): Promise<readonly Played[]> {
  const judged = outcomes.filter(isToBeGraded);
  const grades =
    judged.length === 0
      ? []
      : await group.watch.time('grading', () =>
          storeActivities(`grade ${judged.length} answers`)[GRADE_ANSWERS]({
            question: group.input.question,
            answers: judged.map(({ answer }) => answer),
          }),
        );
  const verdicts = new Map(judged.map((outcome, place) => [outcome, grades[place] ?? 'ungraded']));
  return outcomes.map((outcome) => ({ ...outcome, verdict: verdicts.get(outcome) ?? withoutGrade(outcome) }));
}

/** A provider's failure, or a limit of ours, is never counted against a plan. */
function isToBeGraded({ plan, invalidBecause }: CarriedOut): boolean {
  return plan !== null && invalidBecause === null;
}

function withoutGrade({ plan, invalidBecause }: CarriedOut): Verdict {
  return plan === null && invalidBecause === null ? 'unparseable' : 'ungraded';
}

/** What came of carrying out a plan, before anybody has judged it. */
export interface RolloutOutcome extends Pick<Rollout, 'plan' | 'answer' | 'usage' | 'nanoUsd'> {
  /** Why it says nothing about its plan: a provider failed, or a limit was reached. */
  readonly invalidBecause: string | null;
}

/** Failures that are the worker's own doing, so that its plan may be judged by them. */
const OWN_DOING: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** Carries out a sampled plan. Nothing is thrown but the group's own cancellation. */
async function runSampled(context: RunContext, plan: Plan): Promise<RolloutOutcome> {
  const { recorder, round, depth } = context;
  recorder.record({ kind: 'plan-asked', round, depth });
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  return carryOutPlan(context, plan);
}

/** Has the prompted Conductor write a plan as in any solve, repairs included, and carries it out. */
async function runPrompted(context: RunContext): Promise<RolloutOutcome> {
  try {
    const { plan } = await obtainPlan(context, { review: undefined, rejected: [], first: null });
    return await carryOutPlan(context, plan);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || limitIn(error.type ?? '') === null) throw error;
    return { ...notRun(null), plan: null, invalidBecause: error.message, ...costOf(context.recorder.trace) };
  }
}

async function carryOutPlan(context: RunContext, plan: Plan): Promise<RolloutOutcome> {
  await runPlan(context, plan);
  const { trace } = context.recorder;
  return { plan, answer: lastOutputOf(context), invalidBecause: whatSpoilt(trace), ...costOf(trace) };
}

/** A plan whose text gave nothing to run. */
function notRun(answer: Text | null): Omit<RolloutOutcome, 'plan'> {
  return {
    answer,
    invalidBecause: null,
    usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
    nanoUsd: 0,
  };
}

function whatSpoilt({ rounds }: SolveTrace): string | null {
  const steps = rounds.flatMap((round): readonly StepTrace[] => round.steps);
  const failed = steps.find(({ error }) => error !== null && !OWN_DOING.has(error.type));
  return failed?.error?.message ?? null;
}

function costOf({ usage, calls }: SolveTrace): Pick<RolloutOutcome, 'usage' | 'nanoUsd'> {
  const amounts = calls.map(({ nanoUsd }) => nanoUsd);
  const known = amounts.filter((amount) => amount !== null);
  const nanoUsd = known.length === amounts.length ? known.reduce((sum, amount) => sum + amount, 0) : null;
  return { usage, nanoUsd };
}

/** What every rollout of a group shares. */
export interface GroupContext {
  readonly input: GroupInput;
  /** Of the whole group: what one rollout leaves is there for the next. */
  readonly limits: Limits;
  readonly question: { readonly id: string; readonly text: Text };
  readonly watch: Stopwatch<GroupPart>;
}

/**
 * A rollout as a run of its own, so that it is carried out by the very code that carries out a solve.
 *
 * @param rollout its place in the group, or of the first-round rollout that it reviews
 * @param background what everybody in it may see
 */
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
    recorder: new Recorder(trace, () => undefined),
    depth: 0,
    rootId: workflowId,
    round,
    background,
    rollout: { trainRun, purpose, cycle, question: question.id, draw, rollout },
  };
}
