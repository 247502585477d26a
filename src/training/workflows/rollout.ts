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
import type { GroupInput } from '../contract';
import type { GroupPart } from '../progress';
import { GRADE_ANSWERS } from '../names';
import { type Rollout, type SampledPlan } from '../rollout';
import { storeActivities } from './activities';
import { inWindow } from './in-window';
import type { Stopwatch } from './night';
import { rolloutIdentity } from '../night-ids';

/** A rollout of the first round, as the second one reviews it. */
export interface Root {
  /** Its place in the group. */
  readonly index: number;
  readonly plan: Plan;
  readonly answer: Text;
}

/** A rollout that is over and judged. */
export type Played = Omit<Rollout, 'index' | 'reward'>;
type NotJudged = Omit<Played, 'verdict'>;

/** What came of carrying out a plan. */
type PlanOutcome = Pick<Rollout, 'plan' | 'answer' | 'usage' | 'nanoUsd' | 'invalidBecause'>;

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
  return play(group, plans, async (sampled, index) => {
    const root = roots?.[index] ?? null;
    return {
      ...sampled,
      ...(await runSampled(group, sampled.plan, index, root)),
      root: root?.index ?? index,
    };
  });
}

/** Has the prompted Conductor plan and solve, once for each place, as a solve that is served would be. */
export async function playPrompted(group: GroupContext): Promise<readonly Played[]> {
  const places = Array.from({ length: group.input.plans }, (_, index) => index);
  return play(group, places, async (index) => {
    const outcome = await runPrompted(rolloutContext(group, index, 0));
    return { ...outcome, problem: null, tokens: 0, root: index };
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

/** Throws nothing but the group's own cancellation. */
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

/** Has the prompted Conductor write a plan as in any solve, repairs included, and carries it out. */
async function runPrompted(context: RunContext): Promise<PlanOutcome> {
  try {
    const { plan } = await obtainPlan(context);
    return await carryOut(context, plan);
  } catch (error) {
    if (!(error instanceof ApplicationFailure) || limitIn(error.type ?? '') === null) throw error;
    return { ...NOT_RUN, invalidBecause: error.message, ...costOf(context.recorder.trace) };
  }
}

async function carryOut(context: RunContext, plan: Plan): Promise<PlanOutcome> {
  await runPlan(context, plan);
  const { trace } = context.recorder;
  return { plan, answer: lastOutputOf(context), invalidBecause: findFault(trace), ...costOf(trace) };
}

/** Where there was nothing to run. */
const NOT_RUN: PlanOutcome = {
  plan: null,
  answer: null,
  invalidBecause: null,
  usage: { calls: 0, inputTokens: 0, outputTokens: 0 },
  nanoUsd: 0,
};

/** Failures that are the worker's own doing, so that its plan may be judged by them. */
const OWN_DOING: ReadonlySet<string> = new Set([FAILURES.truncated, FAILURES.refused]);

/** What says nothing about the plan: a provider failed, or a limit was reached. */
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

/** Has answers graded. A provider's failure, or a limit of ours, is never counted against a plan. */
async function judge(group: GroupContext, rollouts: readonly NotJudged[]): Promise<readonly Played[]> {
  const gradable = rollouts.filter(({ plan, invalidBecause }) => plan !== null && invalidBecause === null);
  const grades =
    gradable.length === 0
      ? []
      : await group.watch.time('grading', () =>
          storeActivities(`grade ${gradable.length} answers`)[GRADE_ANSWERS]({
            question: group.input.question,
            answers: gradable.map(({ answer }) => answer),
          }),
        );
  const verdicts = new Map(gradable.map((rollout, place) => [rollout, grades[place] ?? 'ungraded']));
  return rollouts.map((rollout) => {
    const withoutGrade = rollout.invalidBecause === null ? 'unparseable' : 'ungraded';
    return { ...rollout, verdict: verdicts.get(rollout) ?? withoutGrade };
  });
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
 * @param background what every step of it may see
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
    identity: rolloutIdentity({ trainRun, purpose, cycle, question: question.id, draw, rollout }),
  };
}
