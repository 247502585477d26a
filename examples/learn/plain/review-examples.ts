import type { Plan } from '../../../src/plan/plan';
import { renderPlan } from '../../../src/plan/render';
import type { RunWorker } from '../../../src/protocol/run';
import { kindOf } from '../world/chance';
import { findOptimum, optimumFor } from '../world/optimum';
import type { QuestionRow } from '../world/questions';
import { DECOY_PRIOR, drawPriorPlan, type WarmStartExample } from '../world/warm-start';
import { diceFor } from '../world/world';
import { carryOut } from './carry-out';
import type { Recipe } from './recipe';
import { promptFor } from './sample-round';

/** How often an untrained policy accepts an answer, be it a good or a bad one. */
const ACCEPTS = 0.5;

/** How an untrained policy reviews: whether it accepts has nothing to do with the answer, and what it plans is mostly bad. */
export function reviewExamples(
  recipe: Recipe,
  workers: readonly RunWorker[],
  questions: readonly QuestionRow[],
  seed: number,
  count: number,
): WarmStartExample[] {
  const { world } = recipe;
  const optimum = findOptimum(world);
  return Array.from({ length: count }, (_, index) => {
    const dice = diceFor('reviews', world.name, seed, index);
    const { question, topic } = dice.pick(questions);
    const best = optimumFor(world, optimum, topic);
    const first = drawPriorPlan(world, best, DECOY_PRIOR, dice);
    const answer = carryOut(first, { world, seed, question, name: `reviews/${index}` });
    const second = dice.happens(ACCEPTS) ? { steps: [] } : drawPriorPlan(world, best, DECOY_PRIOR, dice);
    const ids = workers.map(({ id }) => id);
    return {
      prompt: promptFor(recipe, { question, workers, review: { plan: first, answer } }),
      completion: `About ${topic}, ${heard(answer)}: ${reasoning(second)}.\n${renderPlan(second, ids)}`,
    };
  });
}

/** It reads out how sure the answer is, and makes nothing of it: what to make of it is left to be learned. */
function heard(answer: string): string {
  return answer.includes('I am sure') ? 'sure' : 'doubt';
}

function reasoning({ steps }: Plan): string {
  return steps.length === 0 ? 'accept' : steps.map(({ subtask }) => kindOf(subtask)).join(', ');
}
