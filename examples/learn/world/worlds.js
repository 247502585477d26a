"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.SMALL_WORLD = exports.MIDDLE_WORLD = exports.WHOLE_WORLD = void 0;
const world_1 = require("./world");
const TOPICS = [
    {
        name: 'trivia',
        nouns: ['film', 'river', 'singer', 'planet', 'castle', 'poet', 'island', 'mountain'],
        lift: 0,
        verifySpoils: 0.2,
        refineSpoils: 0.2,
        decoy: { worker: 'critic', shape: ['solve', 'verify'] },
    },
    {
        name: 'algebra',
        nouns: ['equation', 'matrix', 'factor', 'vector', 'fraction', 'triangle', 'integral', 'theorem'],
        lift: 0.1,
        verifySpoils: 0.02,
        refineSpoils: 0.08,
        decoy: { worker: 'coder', shape: ['plan', 'solve'] },
    },
    {
        name: 'law',
        nouns: ['lease', 'contract', 'tenant', 'court', 'treaty', 'patent', 'verdict', 'statute'],
        lift: 0.1,
        verifySpoils: 0.1,
        refineSpoils: 0.02,
        decoy: { worker: 'maths', shape: ['plan', 'solve', 'verify'] },
    },
    {
        name: 'code',
        nouns: ['loop', 'array', 'parser', 'thread', 'cache', 'string', 'compiler', 'pointer'],
        lift: 0.5,
        verifySpoils: 0.02,
        refineSpoils: 0.08,
        decoy: { worker: 'quick', shape: ['solve', 'refine'] },
    },
];
const WORKERS = [
    {
        id: 'quick',
        specialty: 'facts',
        plan: chances(0.4, 0.4, 0.4, 0.4),
        solve: chances(0.95, 0.25, 0.3, 0.1),
        verify: chances(0.05, 0.2, 0.1, 0.1),
        refine: chances(0.1, 0.1, 0.25, 0.1),
        checkSpoils: 2,
        price: { input: 0.1, output: 0.4 },
    },
    {
        id: 'writer',
        specialty: 'writing',
        plan: chances(0.7, 0.7, 0.7, 0.92),
        solve: chances(0.7, 0.2, 0.35, 0.15),
        verify: chances(0.1, 0.3, 0.2, 0.2),
        refine: chances(0.1, 0.15, 0.8, 0.15),
        checkSpoils: 1.5,
        price: { input: 1, output: 4 },
    },
    {
        id: 'maths',
        specialty: 'algebra',
        plan: chances(0.5, 0.6, 0.4, 0.6),
        solve: chances(0.65, 0.6, 0.25, 0.2),
        verify: chances(0.1, 0.4, 0.1, 0.2),
        refine: chances(0.1, 0.2, 0.3, 0.15),
        checkSpoils: 2,
        price: { input: 1, output: 4 },
    },
    {
        id: 'coder',
        specialty: 'code',
        plan: chances(0.4, 0.5, 0.4, 0.65),
        solve: chances(0.6, 0.3, 0.2, 0.5),
        verify: chances(0.1, 0.3, 0.1, 0.25),
        refine: chances(0.1, 0.1, 0.25, 0.2),
        checkSpoils: 2,
        price: { input: 1, output: 4 },
    },
    {
        id: 'critic',
        specialty: 'checking',
        plan: chances(0.5, 0.5, 0.6, 0.6),
        solve: chances(0.7, 0.25, 0.5, 0.15),
        verify: chances(0.2, 0.7, 0.3, 0.5),
        refine: chances(0.1, 0.2, 0.45, 0.2),
        checkSpoils: 1,
        price: { input: 2, output: 8 },
    },
];
/** One for each kind: a choice between words that mean the same would only be noise to learn through. */
const PHRASES = {
    plan: 'Plan the steps to take.',
    solve: 'Solve the question.',
    verify: 'Check the earlier answer.',
    refine: 'Refine the earlier answer.',
};
/**
 * Four topics, five workers, up to three steps. Best are: for trivia the quick worker alone; for algebra a solver and a
 * check; for law a solver and a refinement; for code a plan, a solver and a check, each by another worker. No worker
 * alone comes near it.
 */
exports.WHOLE_WORLD = {
    name: 'whole',
    topics: TOPICS,
    workers: WORKERS,
    maxSteps: 3,
    phrases: PHRASES,
};
function chances(trivia, algebra, law, code) {
    return { trivia, algebra, law, code };
}
const LAW = {
    ...(0, world_1.topicOf)(exports.WHOLE_WORLD, 'law'),
    decoy: { worker: 'maths', shape: ['plan', 'solve'] },
};
/**
 * All topics and workers in plans of two steps at most, so that a policy soon learns to plan and is left with the
 * question of who is there to do it.
 */
exports.MIDDLE_WORLD = {
    ...exports.WHOLE_WORLD,
    name: 'middle',
    topics: exports.WHOLE_WORLD.topics.map((topic) => (topic.name === LAW.name ? LAW : topic)),
    maxSteps: 2,
};
const TRIVIA = {
    ...(0, world_1.topicOf)(exports.WHOLE_WORLD, 'trivia'),
    decoy: { worker: 'critic', shape: ['solve', 'verify'] },
};
const ALGEBRA = {
    ...(0, world_1.topicOf)(exports.WHOLE_WORLD, 'algebra'),
    decoy: { worker: 'quick', shape: ['plan', 'solve'] },
};
/** The smallest part of the whole world in which two topics still need different teams: learned in a minute or two. */
exports.SMALL_WORLD = {
    ...(0, world_1.withWorkers)(exports.WHOLE_WORLD, ['quick', 'maths', 'critic']),
    name: 'small',
    topics: [TRIVIA, ALGEBRA],
    maxSteps: 2,
};
//# sourceMappingURL=worlds.js.map