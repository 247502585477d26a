import type { Split } from './questions';
import { type Dice, withWorkers, type World } from './world';

/**
 * Worlds with some of the workers only, each of which has an optimum of its own: `train` to learn in, `heldOut` to be
 * tried in, about a fourth of all. All of them together are never held out.
 *
 * @param least how many workers a team has at least
 */
export function teamsOf(world: World, split: Split, least: number): World[] {
  return subsetsOf(world.workers.map(({ id }) => id))
    .filter(({ length }) => length >= least)
    .filter((ids, index) => isHeldOut(world, ids, index) === (split === 'heldOut'))
    .map((ids) => withWorkers(world, ids));
}

/** One of the teams, its workers in an order of its own: no ordinal means the same worker for long. */
export function drawTeam(teams: readonly World[], dice: Dice): World {
  const team = dice.pick(teams);
  const keyed = team.workers.map(({ id }) => ({ id, key: dice.roll() }));
  return withWorkers(
    team,
    keyed.sort((a, b) => a.key - b.key).map(({ id }) => id),
  );
}

function isHeldOut({ workers }: World, { length }: readonly string[], index: number): boolean {
  return index % 4 === 1 && length < workers.length;
}

function subsetsOf(ids: readonly string[]): string[][] {
  const [first, ...others] = ids;
  if (first === undefined) return [[]];
  const rest = subsetsOf(others);
  return [...rest, ...rest.map((subset) => [first, ...subset])];
}
