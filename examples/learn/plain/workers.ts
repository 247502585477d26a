import type { RunWorker } from '../../../src/protocol/run';
import { questionSet } from '../world/questions';
import { measureNotes } from './measure-notes';
import type { Recipe } from './recipe';

/** The workers of a recipe's world, as a night has them. */
export function workersFor({ world, describe, train }: Recipe, seed: number): RunWorker[] {
  const notes =
    describe === 'notes' ? measureNotes(world, questionSet(world, 'train', train, seed), seed) : null;
  return world.workers.map(({ id }) => ({
    kind: 'activity',
    id,
    type: id,
    taskQueue: 'world',
    timeoutMs: 1000,
    notes: notes?.get(id) ?? null,
    fallback: [],
  }));
}
