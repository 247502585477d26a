import { renderPlan } from '../../plan/render';
import { diceFor } from './dice';
import { optimumFor, type Optimum } from './find-optimum';
import { kindOf } from './kind-of';
import { DECOY_PRIOR, drawPriorPlan, type Prior } from './prior';
import type { QuestionRow } from './question-set';
import type { World } from './world';

/** A prompt and what a policy might have written, to be learned from before any reward. */
export interface WarmStartExample {
  readonly prompt: string;
  readonly completion: string;
}

export interface WarmStartOptions {
  readonly world: World;
  readonly optimum: Optimum;
  readonly questions: readonly QuestionRow[];
  /** Of all examples; questions repeat where there are fewer. */
  readonly count: number;
  readonly seed: number;
  /** Default: the one that mostly writes bad plans. */
  readonly prior?: Prior;
  /** Everything that the policy reads, for one question. */
  readonly promptFor: (question: string) => string;
}

/**
 * What a policy is warmed up with: it learns the language of plans and the topics, and from the prior mostly bad plans.
 *
 * A line of reasoning comes first. It is where the policy tells the topics apart, so that what it learns of one topic
 * does not become a habit in all.
 */
export function warmStartExamples(options: WarmStartOptions): WarmStartExample[] {
  const { world, optimum, questions, count, seed, prior = DECOY_PRIOR, promptFor } = options;
  const workers = world.workers.map(({ id }) => id);
  return Array.from({ length: count }, (_, index) => {
    const dice = diceFor('warm start', world.name, seed, index);
    const { question, topic } = dice.pick(questions);
    const plan = drawPriorPlan(world, optimumFor(world, optimum, topic), prior, dice);
    const kinds = plan.steps.map(({ subtask }) => kindOf(subtask)).join(', ');
    return {
      prompt: promptFor(question),
      completion: `About ${topic}: ${kinds}.\n${renderPlan(plan, workers)}`,
    };
  });
}
