"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.findOptimum = findOptimum;
exports.optimumFor = optimumFor;
exports.everyPlan = everyPlan;
exports.chanceOfPlan = chanceOfPlan;
exports.rewardOfPlan = rewardOfPlan;
exports.toReward = toReward;
exports.bestReview = bestReview;
const chance_1 = require("./chance");
const reply_1 = require("./reply");
const world_1 = require("./world");
/** Values every plan of a world; a second for the whole one. */
function findOptimum(world) {
    const topics = world.topics.map((topic) => optimumOf(world, topic));
    const chance = mean(topics.map(({ best }) => best.chance));
    return {
        topics,
        chance,
        reward: toReward(chance),
        bestWorker: Math.max(...world.workers.map(({ solve }) => mean(world.topics.map(({ name }) => solve[name])))),
        random: mean(topics.map(({ random }) => random)),
    };
}
/** The optimum of one topic by its name. */
function optimumFor(world, { topics }, name) {
    const { name: known } = (0, world_1.topicOf)(world, name);
    const found = topics.find(({ topic }) => topic === known);
    if (found)
        return found;
    throw new RangeError(`This optimum was found for another world, without ${known}; find that of the ${world.name} one.`);
}
/** Apart by less than this, two chances are the same. */
const ROUNDING = 1e-12;
function optimumOf(world, topic) {
    let best = { plan: { steps: [] }, chance: 0 };
    let single = best;
    let random = 0;
    for (const { plan, share } of everyPlan(world)) {
        const chance = chanceOfPlan(world, topic, plan);
        if (chance > best.chance + ROUNDING)
            best = { plan, chance };
        if (plan.steps.length === 1 && chance > single.chance)
            single = { plan, chance };
        random += share * chance;
    }
    return { topic: topic.name, best, single, random };
}
function mean(values) {
    return values.reduce((sum, value) => sum + value, 0) / values.length;
}
const KINDS = ['plan', 'solve', 'verify', 'refine'];
/**
 * Every plan of up to `world.maxSteps` steps in which a step sees all or nothing, shorter ones first; the chance that
 * it would come up, were the number of steps, then each worker, kind and view drawn evenly, beside each.
 */
function* everyPlan(world) {
    for (let length = 1; length <= world.maxSteps; length += 1) {
        for (const { plan, share } of plansOf(world, length))
            yield { plan, share: share / world.maxSteps };
    }
}
function* plansOf(world, length) {
    if (length === 0) {
        yield { plan: { steps: [] }, share: 1 };
        return;
    }
    const last = stepsAt(world, length - 1);
    for (const { plan, share } of plansOf(world, length - 1)) {
        for (const step of last)
            yield { plan: { steps: [...plan.steps, step] }, share: share / last.length };
    }
}
function stepsAt({ workers, phrases }, index) {
    const all = Array.from({ length: index }, (_, earlier) => earlier);
    const views = index === 0 ? [[]] : [[], all];
    return workers.flatMap(({ id }) => KINDS.flatMap((kind) => views.map((sees) => ({ worker: id, subtask: phrases[kind], sees }))));
}
/** Reward of a plan whose answer is wrong, and what a right one adds (paper section 3.1). */
const PARSEABLE = 0.5;
/**
 * The exact chance that a plan's answer is right, over all ways its steps can turn out: 2 to the power of its steps.
 *
 * @param given answers that every step is shown, as in a review; with no steps at all, the last of them stands
 */
function chanceOfPlan(world, topic, plan, given = []) {
    return chanceFrom(world, topic, plan.steps, [], given);
}
/** The exact expected reward of a plan. */
function rewardOfPlan(world, topic, plan) {
    return toReward(chanceOfPlan(world, topic, plan));
}
/** @param chance that the answer is right */
function toReward(chance) {
    return PARSEABLE + (1 - PARSEABLE) * chance;
}
function chanceFrom(world, topic, steps, done, given) {
    const step = steps[done.length];
    if (step === undefined)
        return isRight(done.at(-1) ?? given.at(-1)) ? 1 : 0;
    const kind = (0, chance_1.kindOf)(step.subtask);
    const seen = [...given, ...done.filter((_, index) => step.sees.includes(index))];
    const chance = (0, chance_1.chanceOf)(topic, (0, world_1.workerOf)(world, step.worker), kind, seen);
    const after = (isGood) => chanceFrom(world, topic, steps, [...done, (0, chance_1.workOf)(kind, isGood, seen)], given);
    return chance * after(true) + (1 - chance) * after(false);
}
/** A plan as last reply answers nothing. */
function isRight(work) {
    return work?.is === 'answer' && work.isGood;
}
/**
 * The best review of a plan, whose answer every step of the new plan is shown. It knows no more than what the last
 * worker said: the answer, and whether it is sure.
 *
 * @param chance that the first answer is right
 */
function bestReview(world, topic, { plan, chance }) {
    const kind = (0, chance_1.kindOf)(plan.steps.at(-1)?.subtask ?? 'solve');
    const isRevision = (kind === 'verify' || kind === 'refine') && plan.steps.length > 1;
    const onSure = bestAfter(world, topic, isRevision, chance * reply_1.CANDOUR, (1 - chance) * (1 - reply_1.CANDOUR));
    const onDoubt = bestAfter(world, topic, isRevision, chance * (1 - reply_1.CANDOUR), (1 - chance) * reply_1.CANDOUR);
    const spoils = ({ plan: review }) => 1 - chanceOfPlan(world, topic, review, [{ is: 'answer', isGood: true, isRevision }]);
    return {
        onSure: onSure.plan,
        onDoubt: onDoubt.plan,
        chance: onSure.chance + onDoubt.chance,
        spoils: reply_1.CANDOUR * spoils(onSure) + (1 - reply_1.CANDOUR) * spoils(onDoubt),
    };
}
/** The weights say how likely it is to come here with a right and with a wrong answer; so does the chance returned. */
function bestAfter(world, topic, isRevision, right, wrong) {
    const given = (isGood) => [{ is: 'answer', isGood, isRevision }];
    let best = { plan: { steps: [] }, chance: right };
    for (const { plan } of everyPlan(world)) {
        const chance = right * chanceOfPlan(world, topic, plan, given(true)) +
            wrong * chanceOfPlan(world, topic, plan, given(false));
        if (chance > best.chance + 1e-12)
            best = { plan, chance };
    }
    return best;
}
//# sourceMappingURL=optimum.js.map