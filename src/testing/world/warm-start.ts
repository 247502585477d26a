import type { Plan } from '../../plan/plan';
import { renderPlan } from '../../plan/render';
import { diceFor } from './dice';
import { findOptimum, optimumFor, type Optimum } from './find-optimum';
import { kindOf } from './kind-of';
import { DECOY_PRIOR, drawPriorPlan, type Prior } from './prior';
import type { QuestionRow } from './question-set';
import { drawTeam } from './teams';
import { workerOf, type World, type WorldWorker } from './world';

/** A prompt and what a policy might have written, to be learned from before any reward. */
export interface WarmStartExample {
  readonly prompt: string;
  readonly completion: string;
}

export interface WarmStartOptions {
  readonly world: World;
  readonly questions: readonly QuestionRow[];
  /** Of all examples; questions repeat where there are fewer. */
  readonly count: number;
  readonly seed: number;
  /** Default: the one that mostly writes bad plans. */
  readonly prior?: Prior;
  /**
   * Each example has the workers of one of these, in an order of its own; default: those of the world, in its order.
   * The line of reasoning then tells of each step whom it wants, by specialty and ordinal, so that the policy looks for
   * that worker in its prompt.
   */
  readonly teams?: readonly World[];
  /** Everything that the policy reads, for one question to some workers. */
  readonly promptFor: (question: string, workers: readonly WorldWorker[]) => string;
}

/**
 * What a policy is warmed up with: it learns the language of plans and the topics, and from the prior mostly bad plans.
 *
 * A line of reasoning comes first. It is where the policy tells the topics apart, so that what it learns of one topic
 * does not become a habit in all.
 */
export function warmStartExamples(options: WarmStartOptions): WarmStartExample[] {
  const { world, questions, count, seed, prior = DECOY_PRIOR, teams, promptFor } = options;
  const optimumOf = remembered();
  return Array.from({ length: count }, (_, index) => {
    const dice = diceFor('warm start', world.name, seed, index);
    const team = teams === undefined ? world : drawTeam(teams, dice);
    const { question, topic } = dice.pick(questions);
    const plan = drawPriorPlan(team, optimumFor(team, optimumOf(team), topic), prior, dice);
    const steps = reasoning(team, plan, teams !== undefined);
    return {
      prompt: promptFor(question, team.workers),
      completion: `About ${topic}: ${steps}.\n${renderPlan(
        plan,
        team.workers.map(({ id }) => id),
      )}`,
    };
  });
}

function reasoning(world: World, { steps }: Plan, withWorkers: boolean): string {
  const wanted = steps.map(({ worker, subtask }) => {
    const kind = kindOf(subtask);
    if (!withWorkers) return kind;
    const ordinal = world.workers.findIndex(({ id }) => id === worker);
    return `${kind} by ${workerOf(world, worker).specialty}${ordinal}`;
  });
  return wanted.join(', ');
}

/** Finds the optimum of each team once, whatever its order. */
function remembered(): (world: World) => Optimum {
  const known = new Map<string, Optimum>();
  return (world) => {
    const key = world.workers
      .map(({ id }) => id)
      .sort()
      .join();
    const optimum = known.get(key) ?? findOptimum(world);
    known.set(key, optimum);
    return optimum;
  };
}
