import type { Rates } from '../../../src/protocol/cards';
/** What a subtask asks for. */
export type Kind = 'plan' | 'solve' | 'verify' | 'refine';
/** What a question is about. */
export type TopicName = 'trivia' | 'algebra' | 'law' | 'code';
/** A chance for each topic. */
export type ByTopic = Readonly<Record<TopicName, number>>;
/** How a topic behaves, whoever works on it. */
export interface Topic {
    readonly name: TopicName;
    /** Words that tell the topic; each question holds exactly one. */
    readonly nouns: readonly string[];
    /** What share of its failures a solver is spared who sees a sound plan. */
    readonly lift: number;
    /** Chance that a right answer is spoiled by a check, for a worker of `checkSpoils` 1. */
    readonly verifySpoils: number;
    /** Chance that a right answer is spoiled by a refinement. */
    readonly refineSpoils: number;
    /** What an untrained policy mostly writes: a plan that looks sensible and is not. */
    readonly decoy: {
        readonly worker: string;
        readonly shape: readonly Kind[];
    };
}
/** A simulated worker: whose work is good how often. */
export interface WorldWorker {
    readonly id: string;
    /** What it is good at, in one word. */
    readonly specialty: string;
    /** Chance that its plan is sound. */
    readonly plan: ByTopic;
    /** Chance that it solves a question with nothing to go by. */
    readonly solve: ByTopic;
    /** Chance that its check mends a wrong answer. */
    readonly verify: ByTopic;
    /** Chance that its refinement mends a wrong answer. */
    readonly refine: ByTopic;
    /** How often its checks spoil a right answer, as a factor on the topic's own chance. */
    readonly checkSpoils: number;
    readonly price: Rates;
}
/** A world of questions and workers in which the best plans are teams that differ from topic to topic. */
export interface World {
    readonly name: 'small' | 'middle' | 'whole';
    readonly topics: readonly Topic[];
    readonly workers: readonly WorldWorker[];
    readonly maxSteps: number;
    /** How an untrained policy words a subtask of each kind. */
    readonly phrases: Readonly<Record<Kind, string>>;
}
/** The same world with some of its workers only, in the order given. */
export declare function withWorkers(world: World, ids: readonly string[]): World;
/** @throws RangeError where the world has no such worker */
export declare function workerOf({ name, workers }: World, id: string): WorldWorker;
/** @throws RangeError where the world has no such topic */
export declare function topicOf({ name, topics }: World, topic: string): Topic;
/** Numbers in [0, 1), one after the other; the same ones for the same key. */
export interface Dice {
    roll(): number;
    /** One of several, each as likely. */
    pick<T>(items: readonly T[]): T;
    /** Whether something of this chance comes to pass. */
    happens(chance: number): boolean;
}
/** Dice of one's own: what others roll changes nothing here. */
export declare function diceFor(...key: readonly (string | number)[]): Dice;
//# sourceMappingURL=world.d.ts.map