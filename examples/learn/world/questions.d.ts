import { type Topic, type World } from './world';
/** One line of a set of questions, in the form that training reads. */
export interface QuestionRow {
    readonly id: string;
    readonly question: string;
    readonly answer: string;
    readonly grader: 'number';
    readonly topic: string;
}
/** `train` to learn from, `heldOut` to be tried on: other pairs of noun and sentence, and other numbers. */
export type Split = 'train' | 'heldOut';
/**
 * Questions of one split, all different, as many of one topic as of another; the same ones for the same seed.
 *
 * @throws RangeError where the split has not many more
 */
export declare function questionSet(world: World, split: Split, count: number, seed: number): QuestionRow[];
/** As the lines of a JSONL file. */
export declare function toJsonLines(rows: readonly object[]): string;
/** What a question of the world asks, whatever its words: the sum of two numbers. */
export interface WorldQuestion {
    readonly topic: Topic;
    readonly a: number;
    readonly b: number;
}
/** Ways to word a question. Twelve, so that a policy reads the noun and not the sentence: of four, it learned those by heart. */
export declare const TEMPLATES: readonly string[];
/** A question in the words of one of the templates. */
export declare function wordQuestion(template: string, noun: string, a: number, b: number): string;
/**
 * Reads a question back: its topic by the noun, as a whole word ("lease" is also within "please"), and its two numbers.
 *
 * @throws RangeError where it is no question of this world
 */
export declare function readQuestion({ name, topics }: World, text: string): WorldQuestion;
/** The whole numbers in a text, in their order. */
export declare function numbersIn(text: string): number[];
//# sourceMappingURL=questions.d.ts.map