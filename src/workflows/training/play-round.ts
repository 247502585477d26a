import type { Plan } from '../../plan/plan';
import type { Text } from '../../protocol/text';
import { GRADE_ANSWERS } from '../../training/names';
import type { SampledPlan, Verdict } from '../../training/rollout';
import { bookActivities } from './activities';
import { rolloutContext, type GroupContext } from './group-context';
import { inWindow } from './in-window';
import { notRun, runPrompted, runSampled, type Outcome } from './run-rollout';

/** A rollout of the first round, as the second one reviews it. */
export interface Root {
  /** Its place in the group. */
  readonly index: number;
  readonly plan: Plan;
  readonly answer: Text;
}

/** A rollout that was carried out. */
interface CarriedOut extends SampledPlan, Omit<Outcome, 'plan'> {
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
          bookActivities(`grade ${judged.length} answers`)[GRADE_ANSWERS]({
            question: group.input.question,
            answers: judged.map(({ answer }) => answer),
          }),
        );
  const verdicts = new Map(judged.map((outcome, place) => [outcome, grades[place] ?? 'ungraded']));
  return outcomes.map((outcome) => ({ ...outcome, verdict: verdicts.get(outcome) ?? withoutGrade(outcome) }));
}

/** A provider's failure, or a limit of ours, is never counted against a plan. */
function isToBeGraded({ plan, spoiltBy }: CarriedOut): boolean {
  return plan !== null && spoiltBy === null;
}

function withoutGrade({ plan, spoiltBy }: CarriedOut): Verdict {
  return plan === null && spoiltBy === null ? 'unparseable' : 'ungraded';
}
