"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.teamsOf = teamsOf;
exports.drawTeam = drawTeam;
const world_1 = require("./world");
/**
 * Worlds with some of the workers only, each of which has an optimum of its own: `train` to learn in, `heldOut` to be
 * tried in, about a fourth of all. All of them together are never held out.
 *
 * @param least how many workers a team has at least
 */
function teamsOf(world, split, least) {
    return subsetsOf(world.workers.map(({ id }) => id))
        .filter(({ length }) => length >= least)
        .filter((ids, index) => isHeldOut(world, ids, index) === (split === 'heldOut'))
        .map((ids) => (0, world_1.withWorkers)(world, ids));
}
/** One of the teams, its workers in an order of its own: no ordinal means the same worker for long. */
function drawTeam(teams, dice) {
    const team = dice.pick(teams);
    const keyed = team.workers.map(({ id }) => ({ id, key: dice.roll() }));
    return (0, world_1.withWorkers)(team, keyed.sort((a, b) => a.key - b.key).map(({ id }) => id));
}
function isHeldOut({ workers }, { length }, index) {
    return index % 4 === 1 && length < workers.length;
}
function subsetsOf(ids) {
    const [first, ...others] = ids;
    if (first === undefined)
        return [[]];
    const rest = subsetsOf(others);
    return [...rest, ...rest.map((subset) => [first, ...subset])];
}
//# sourceMappingURL=teams.js.map