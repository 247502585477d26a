"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.DECOY_PRIOR = void 0;
exports.warmStartExamples = warmStartExamples;
exports.drawPriorPlan = drawPriorPlan;
const render_1 = require("../../../src/plan/render");
const chance_1 = require("./chance");
const optimum_1 = require("./optimum");
const teams_1 = require("./teams");
const world_1 = require("./world");
/**
 * What a policy is warmed up with: it learns the language of plans and the topics, and from the prior mostly bad plans.
 *
 * A line of reasoning comes first. It is where the policy tells the topics apart, so that what it learns of one topic
 * does not become a habit in all.
 */
function warmStartExamples(options) {
    const { world, questions, count, seed, prior = exports.DECOY_PRIOR, teams, promptFor } = options;
    const optimumOf = remembered();
    return Array.from({ length: count }, (_, index) => {
        const dice = (0, world_1.diceFor)('warm start', world.name, seed, index);
        const team = teams === undefined ? world : (0, teams_1.drawTeam)(teams, dice);
        const { question, topic } = dice.pick(questions);
        const plan = drawPriorPlan(team, (0, optimum_1.optimumFor)(team, optimumOf(team), topic), prior, dice);
        const steps = reasoning(team, plan, teams !== undefined);
        return {
            prompt: promptFor(question, team.workers),
            completion: `About ${topic}: ${steps}.\n${(0, render_1.renderPlan)(plan, team.workers.map(({ id }) => id))}`,
        };
    });
}
function reasoning(world, { steps }, withWorkers) {
    const wanted = steps.map(({ worker, subtask }) => {
        const kind = (0, chance_1.kindOf)(subtask);
        if (!withWorkers)
            return kind;
        const ordinal = world.workers.findIndex(({ id }) => id === worker);
        return `${kind} by ${(0, world_1.workerOf)(world, worker).specialty}${ordinal}`;
    });
    return wanted.join(', ');
}
/** Finds the optimum of each team once, whatever its order. */
function remembered() {
    const known = new Map();
    return (world) => {
        const key = world.workers
            .map(({ id }) => id)
            .sort()
            .join();
        const optimum = known.get(key) ?? (0, optimum_1.findOptimum)(world);
        known.set(key, optimum);
        return optimum;
    };
}
/** A prior that knows what plans are, and mostly writes bad ones. */
exports.DECOY_PRIOR = {
    bestShape: 0.25,
    decoyShape: 0.35,
    sensibleShape: 0.8,
    bestWorker: 0.25,
    decoyWorker: 0.35,
    seesAll: 0.85,
};
const KINDS = ['plan', 'solve', 'verify', 'refine'];
const SENSIBLE = [
    ['solve'],
    ['solve', 'verify'],
    ['solve', 'refine'],
    ['plan', 'solve'],
    ['plan', 'solve', 'verify'],
    ['plan', 'solve', 'refine'],
];
/** A plan of an untrained policy for one topic. */
function drawPriorPlan(world, optimum, prior, dice) {
    const topic = (0, world_1.topicOf)(world, optimum.topic);
    const shape = drawShape(world, topic, optimum, prior, dice);
    return { steps: shape.map((kind, index) => drawStep(world, topic, kind, index, prior, dice)) };
}
function drawShape({ maxSteps }, { decoy }, { best }, prior, dice) {
    const drawn = dice.roll();
    if (drawn < prior.bestShape)
        return best.plan.steps.map(({ subtask }) => (0, chance_1.kindOf)(subtask));
    if (drawn < prior.bestShape + prior.decoyShape)
        return decoy.shape;
    if (dice.happens(prior.sensibleShape))
        return dice.pick(SENSIBLE.filter(({ length }) => length <= maxSteps));
    const length = 1 + Math.floor(dice.roll() * maxSteps);
    return Array.from({ length }, () => dice.pick(KINDS));
}
function drawStep(world, topic, kind, index, prior, dice) {
    const seesAll = index > 0 && dice.happens(prior.seesAll);
    return {
        worker: drawWorker(world, topic, kind, prior, dice),
        subtask: world.phrases[kind],
        sees: seesAll ? Array.from({ length: index }, (_, earlier) => earlier) : [],
    };
}
function drawWorker({ workers }, { name, decoy }, kind, prior, dice) {
    const drawn = dice.roll();
    const ids = workers.map(({ id }) => id);
    if (drawn < prior.bestWorker)
        return bestAt(workers, kind, name).id;
    if (drawn < prior.bestWorker + prior.decoyWorker && ids.includes(decoy.worker))
        return decoy.worker;
    return dice.pick(ids);
}
function bestAt(workers, kind, topic) {
    return workers.reduce((best, worker) => (worker[kind][topic] > best[kind][topic] ? worker : best));
}
//# sourceMappingURL=warm-start.js.map