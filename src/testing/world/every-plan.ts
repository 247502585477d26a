import type { Plan, Step } from '../../plan/plan';
import type { Kind, World } from './world';

const KINDS: readonly Kind[] = ['plan', 'solve', 'verify', 'refine'];

/**
 * Every plan of up to `world.maxSteps` steps in which a step sees all or nothing, shorter ones first; the chance that
 * it would come up, were the number of steps, then each worker, kind and view drawn evenly, beside each.
 */
export function* everyPlan(world: World): Generator<{ readonly plan: Plan; readonly share: number }> {
  for (let length = 1; length <= world.maxSteps; length += 1) {
    for (const { plan, share } of plansOf(world, length)) yield { plan, share: share / world.maxSteps };
  }
}

function* plansOf(world: World, length: number): Generator<{ readonly plan: Plan; readonly share: number }> {
  if (length === 0) {
    yield { plan: { steps: [] }, share: 1 };
    return;
  }
  const last = stepsAt(world, length - 1);
  for (const { plan, share } of plansOf(world, length - 1)) {
    for (const step of last) yield { plan: { steps: [...plan.steps, step] }, share: share / last.length };
  }
}

function stepsAt({ workers, phrases }: World, index: number): Step[] {
  const all = Array.from({ length: index }, (_, earlier) => earlier);
  const views = index === 0 ? [[]] : [[], all];
  return workers.flatMap(({ id }) =>
    KINDS.flatMap((kind) => views.map((sees) => ({ worker: id, subtask: phrases[kind], sees }))),
  );
}
