"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.TEMPLATES = void 0;
exports.questionSet = questionSet;
exports.toJsonLines = toJsonLines;
exports.wordQuestion = wordQuestion;
exports.readQuestion = readQuestion;
exports.numbersIn = numbersIn;
const world_1 = require("./world");
/** Numbers have two digits, as the wrong ones do. */
const NUMBERS = Array.from({ length: 50 }, (_, index) => 11 + index);
/**
 * Questions of one split, all different, as many of one topic as of another; the same ones for the same seed.
 *
 * @throws RangeError where the split has not many more
 */
function questionSet(world, split, count, seed) {
    const dice = (0, world_1.diceFor)('questions', world.name, split, seed);
    const sources = world.topics.map((topic) => sourceOf(topic, split));
    const most = Math.min(...sources.map(({ wordings, numbers }) => wordings.length * numbers.length)) / 2;
    if (count > most * sources.length) {
        throw new RangeError(`${count} different ${split} questions are too many; ask for at most ${most * sources.length}.`);
    }
    const rows = new Map();
    while (rows.size < count) {
        const row = drawQuestion(sources[rows.size % sources.length], dice, `${split}-${padded(rows.size)}`);
        if (!rows.has(row.question))
            rows.set(row.question, row);
    }
    return [...rows.values()];
}
/** As the lines of a JSONL file. */
function toJsonLines(rows) {
    return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}
function sourceOf({ name, nouns }, split) {
    const belongs = (number) => isHeldOut(number) === (split === 'heldOut');
    return {
        topic: name,
        wordings: nouns.flatMap((noun, n) => exports.TEMPLATES.filter((_, t) => belongs(n + t)).map((template) => (a, b) => wordQuestion(template, noun, a, b))),
        numbers: NUMBERS.flatMap((a) => NUMBERS.filter((b) => belongs(a + 2 * b)).map((b) => [a, b])),
    };
}
/** A quarter of the wordings and of the pairs of numbers is kept back. */
function isHeldOut(number) {
    return number % 4 === 0;
}
function drawQuestion(source, dice, id) {
    if (source === undefined)
        throw new RangeError('A world without topics has no questions; give it one.');
    const [a, b] = dice.pick(source.numbers);
    const question = dice.pick(source.wordings)(a, b);
    return { id, question, answer: String(a + b), grader: 'number', topic: source.topic };
}
function padded(number) {
    return String(number).padStart(5, '0');
}
/** Ways to word a question. Twelve, so that a policy reads the noun and not the sentence: of four, it learned those by heart. */
exports.TEMPLATES = [
    'How much is {a} and {b} for this {noun}?',
    'This {noun} holds {a} and {b}. What is the total?',
    'Please add {a} to {b} for the {noun}.',
    'About the {noun}: what do {a} and {b} come to?',
    'Take {a}, then {b} more. How many has the {noun}?',
    'A {noun} counts {a} here and {b} there. How many in all?',
    'What sum do {a} and {b} make in a {noun}?',
    'Given {a} and {b}, tell me the sum of the {noun}.',
    'My {noun} has {a} parts, yours has {b}. How many together?',
    'If one {noun} is worth {a} and another {b}, what are both worth?',
    'We found {a} in the first {noun} and {b} in the second. Sum?',
    'Start with {a}. The {noun} adds {b}. Where do we end?',
];
/** A question in the words of one of the templates. */
function wordQuestion(template, noun, a, b) {
    return template.replace('{noun}', noun).replace('{a}', String(a)).replace('{b}', String(b));
}
/**
 * Reads a question back: its topic by the noun, as a whole word ("lease" is also within "please"), and its two numbers.
 *
 * @throws RangeError where it is no question of this world
 */
function readQuestion({ name, topics }, text) {
    const words = new Set(text.toLowerCase().match(/\p{Letter}+/gu));
    const topic = topics.find(({ nouns }) => nouns.some((noun) => words.has(noun)));
    const [a, b] = numbersIn(text);
    if (topic === undefined || a === undefined || b === undefined) {
        throw new RangeError(`"${text}" is no question of the ${name} world: it needs two numbers and a noun of a topic.`);
    }
    return { topic, a, b };
}
/** The whole numbers in a text, in their order. */
function numbersIn(text) {
    return (text.match(/-?\d+/g) ?? []).map(Number);
}
//# sourceMappingURL=questions.js.map