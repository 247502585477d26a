import type { Plan } from '../../plan/plan';
import type { Work } from './chance';
import { everyPlan } from './every-plan';
import type { Valued } from './find-optimum';
import { CANDOUR } from './reply-as';
import { kindOf } from './kind-of';
import { chanceOfPlan } from './value-plan';
import type { Topic, World } from './world';

/** The best that a second round can do after one plan. */
export interface ReviewOptimum {
  /** What to do where the worker says it is sure; no steps: accept the answer. */
  readonly onSure: Plan;
  readonly onDoubt: Plan;
  /** That the answer is right after the second round. */
  readonly chance: number;
  /** That an answer which was right is wrong after it. */
  readonly spoils: number;
}

/**
 * The best review of a plan, whose answer every step of the new plan is shown. It knows no more than what the last
 * worker said: the answer, and whether it is sure.
 *
 * @param chance that the first answer is right
 */
export function bestReview(world: World, topic: Topic, { plan, chance }: Valued): ReviewOptimum {
  const kind = kindOf(plan.steps.at(-1)?.subtask ?? 'solve');
  const isRevision = (kind === 'verify' || kind === 'refine') && plan.steps.length > 1;
  const onSure = bestAfter(world, topic, isRevision, chance * CANDOUR, (1 - chance) * (1 - CANDOUR));
  const onDoubt = bestAfter(world, topic, isRevision, chance * (1 - CANDOUR), (1 - chance) * CANDOUR);
  const spoils = ({ plan: review }: Valued): number =>
    1 - chanceOfPlan(world, topic, review, [{ is: 'answer', isGood: true, isRevision }]);
  return {
    onSure: onSure.plan,
    onDoubt: onDoubt.plan,
    chance: onSure.chance + onDoubt.chance,
    spoils: CANDOUR * spoils(onSure) + (1 - CANDOUR) * spoils(onDoubt),
  };
}

/** The weights say how likely it is to come here with a right and with a wrong answer; so does the chance returned. */
function bestAfter(world: World, topic: Topic, isRevision: boolean, right: number, wrong: number): Valued {
  const given = (isGood: boolean): Work[] => [{ is: 'answer', isGood, isRevision }];
  let best: Valued = { plan: { steps: [] }, chance: right };
  for (const { plan } of everyPlan(world)) {
    const chance =
      right * chanceOfPlan(world, topic, plan, given(true)) +
      wrong * chanceOfPlan(world, topic, plan, given(false));
    if (chance > best.chance + 1e-12) best = { plan, chance };
  }
  return best;
}
