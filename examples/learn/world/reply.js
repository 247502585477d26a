"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.REVISED = exports.PLAN = exports.CANDOUR = void 0;
exports.replyAs = replyAs;
exports.readPrompt = readPrompt;
exports.answerIn = answerIn;
const chance_1 = require("./chance");
const questions_1 = require("./questions");
const world_1 = require("./world");
/** How far off a wrong number is. */
const ERRORS = [-9, -3, -1, 1, 2, 7];
/** How often a worker rightly says whether it is sure. */
exports.CANDOUR = 0.85;
/**
 * What a simulated worker replies: a pure function of the world, its seed and the call.
 *
 * @throws RangeError where the prompt is not of this world
 */
function replyAs(world, seed, { worker, prompt, callId }) {
    const read = readPrompt(world, prompt);
    const kind = (0, chance_1.kindOf)(read.subtask);
    const dice = (0, world_1.diceFor)('reply', seed, worker, callId);
    const isGood = dice.happens((0, chance_1.chanceOf)(read.topic, (0, world_1.workerOf)(world, worker), kind, read.seen));
    return wordsFor((0, chance_1.workOf)(kind, isGood, read.seen), read, dice);
}
function wordsFor(work, { a, b }, dice) {
    const error = work.isGood ? 0 : dice.pick(ERRORS);
    if (work.is === 'plan')
        return `${exports.PLAN} ${a} and ${b + error}, then state the total.`;
    const isSure = dice.happens(exports.CANDOUR) === work.isGood;
    const answer = `<answer>${a + b + error}</answer> I am ${isSure ? 'sure' : 'not sure'}.`;
    return work.isRevision ? `${exports.REVISED} ${answer}` : answer;
}
/**
 * Reads the tagged prompt of a worker (see `plan/worker-prompt.ts`): question, own subtask, and each reply shown. What a
 * reply is worth is read off its text alone, so that correctness travels as it does between real models.
 *
 * @throws RangeError where it is no such prompt, or not about this world
 */
function readPrompt(world, text) {
    const [, mark = ''] = /<question(-\d+)?>\n/.exec(text) ?? [];
    const question = (0, questions_1.readQuestion)(world, onlyIn(text, `question${mark}`));
    return {
        ...question,
        subtask: onlyIn(text, `your_subtask${mark}`),
        seen: allIn(text, `answer${mark}`).flatMap((reply) => workIn(reply, question)),
    };
}
/** The number that a reply states as its answer: the last one, as graders read it. */
function answerIn(reply) {
    const [, number] = [...reply.matchAll(/<answer>\s*(-?\d+)\s*<\/answer>/g)].at(-1) ?? [];
    return number === undefined ? null : Number(number);
}
/** What a reply of a worker begins with. */
exports.PLAN = 'Plan: add';
exports.REVISED = 'Revised:';
function workIn(reply, { a, b }) {
    const answer = answerIn(reply);
    if (answer !== null)
        return [{ is: 'answer', isGood: answer === a + b, isRevision: reply.startsWith(exports.REVISED) }];
    if (!reply.startsWith(exports.PLAN))
        return [];
    const [first, second] = (0, questions_1.numbersIn)(reply);
    return [{ is: 'plan', isGood: first === a && second === b }];
}
function onlyIn(text, tag) {
    const [found] = allIn(text, tag);
    if (found !== undefined)
        return found;
    throw new RangeError(`This is no prompt of a worker of the world: it has no <${tag}>.\n${text}`);
}
function allIn(text, tag) {
    return [...text.matchAll(new RegExp(`<${tag}>\\n(.*?)\\n</${tag}>`, 'gs'))].map(([, inner = '']) => inner);
}
//# sourceMappingURL=reply.js.map