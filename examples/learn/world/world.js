"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.withWorkers = withWorkers;
exports.workerOf = workerOf;
exports.topicOf = topicOf;
exports.diceFor = diceFor;
const simulated_model_1 = require("../../../src/testing/simulated-model");
/** The same world with some of its workers only, in the order given. */
function withWorkers(world, ids) {
    return { ...world, workers: ids.map((id) => workerOf(world, id)) };
}
/** @throws RangeError where the world has no such worker */
function workerOf({ name, workers }, id) {
    const worker = workers.find((one) => one.id === id);
    if (worker)
        return worker;
    const known = workers.map((one) => one.id).join(', ');
    throw new RangeError(`The ${name} world has no worker "${id}"; it has ${known}.`);
}
/** @throws RangeError where the world has no such topic */
function topicOf({ name, topics }, topic) {
    const found = topics.find((one) => one.name === topic);
    if (found)
        return found;
    const known = topics.map((one) => one.name).join(', ');
    throw new RangeError(`The ${name} world has no topic "${topic}"; it has ${known}.`);
}
/** Dice of one's own: what others roll changes nothing here. */
function diceFor(...key) {
    let rolled = 0;
    const roll = () => (0, simulated_model_1.draw)(...key, (rolled += 1));
    return {
        roll,
        pick: (items) => {
            const item = items[Math.floor(roll() * items.length)];
            if (item === undefined)
                throw new RangeError('There is nothing to pick from; give at least one item.');
            return item;
        },
        happens: (chance) => roll() < chance,
    };
}
//# sourceMappingURL=world.js.map