"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.chanceOf = chanceOf;
exports.workOf = workOf;
exports.kindOf = kindOf;
/** Left of a solver's chance under a flawed plan. */
const FLAWED = 0.7;
/** Left of any chance for each answer that only distracts. */
const CLUTTER = 0.97;
/** Left of the chance to mend for each revision that failed to before. */
const REPEAT = 0.1;
/** Left of the chance to solve for a checker who has nothing to check. */
const BLIND = 0.5;
/**
 * The law of the world: how likely a worker's reply is good, given the replies it sees, oldest first.
 *
 * A solver is helped by a sound plan and distracted by answers. A checker or refiner works on the last answer, may mend
 * or spoil it, and hardly ever mends what another revision of it left wrong. The newest visible plan is the one that counts.
 */
function chanceOf(topic, worker, kind, seen) {
    if (kind === 'plan')
        return worker.plan[topic.name];
    const answers = seen.filter((work) => work.is === 'answer');
    const last = answers.at(-1);
    if (kind === 'solve')
        return solveChance(topic, worker, seen) * CLUTTER ** answers.length;
    if (last === undefined)
        return solveChance(topic, worker, seen) * BLIND;
    const fresh = answers.findLastIndex(({ isRevision }) => !isRevision);
    const revisions = answers.length - 1 - fresh;
    const clutter = CLUTTER ** Math.max(0, answers.length - revisions - 1);
    if (last.isGood)
        return (1 - spoilChance(topic, worker, kind)) * clutter;
    return worker[kind][topic.name] * REPEAT ** revisions * clutter;
}
/** What a reply is to those who see it. A checker who saw no answer wrote one of its own. */
function workOf(kind, isGood, seen) {
    if (kind === 'plan')
        return { is: 'plan', isGood };
    return { is: 'answer', isGood, isRevision: kind !== 'solve' && seen.some(({ is }) => is === 'answer') };
}
function solveChance({ name, lift }, worker, seen) {
    const alone = worker.solve[name];
    const plan = seen.findLast(({ is }) => is === 'plan');
    if (plan === undefined)
        return alone;
    return plan.isGood ? 1 - (1 - alone) * (1 - lift) : alone * FLAWED;
}
function spoilChance(topic, worker, kind) {
    return kind === 'verify' ? topic.verifySpoils * worker.checkSpoils : topic.refineSpoils;
}
const WORDS = {
    plan: 'plan',
    outline: 'plan',
    sketch: 'plan',
    solve: 'solve',
    answer: 'solve',
    compute: 'solve',
    check: 'verify',
    verify: 'verify',
    review: 'verify',
    refine: 'refine',
    improve: 'refine',
    polish: 'refine',
};
/** What a subtask asks for, told by its first word; anything unknown asks for a solution. */
function kindOf(subtask) {
    const [word = ''] = /\p{Letter}+/u.exec(subtask) ?? [];
    return WORDS[word.toLowerCase()] ?? 'solve';
}
//# sourceMappingURL=chance.js.map