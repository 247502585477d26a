import type { Split } from './questions';
import { type Dice, type World } from './world';
/**
 * Worlds with some of the workers only, each of which has an optimum of its own: `train` to learn in, `heldOut` to be
 * tried in, about a fourth of all. All of them together are never held out.
 *
 * @param least how many workers a team has at least
 */
export declare function teamsOf(world: World, split: Split, least: number): World[];
/** One of the teams, its workers in an order of its own: no ordinal means the same worker for long. */
export declare function drawTeam(teams: readonly World[], dice: Dice): World;
//# sourceMappingURL=teams.d.ts.map