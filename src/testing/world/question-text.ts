import type { Topic, World } from './world';

/** What a question of the world asks, whatever its words: the sum of two numbers. */
export interface WorldQuestion {
  readonly topic: Topic;
  readonly a: number;
  readonly b: number;
}

/** Ways to word a question. Twelve, so that a policy reads the noun and not the sentence: of four, it learned those by heart. */
export const TEMPLATES: readonly string[] = [
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
export function wordQuestion(template: string, noun: string, a: number, b: number): string {
  return template.replace('{noun}', noun).replace('{a}', String(a)).replace('{b}', String(b));
}

/**
 * Reads a question back: its topic by the noun, as a whole word ("lease" is also within "please"), and its two numbers.
 *
 * @throws RangeError where it is no question of this world
 */
export function readQuestion({ name, topics }: World, text: string): WorldQuestion {
  const words = new Set(text.toLowerCase().match(/\p{Letter}+/gu));
  const topic = topics.find(({ nouns }) => nouns.some((noun) => words.has(noun)));
  const [a, b] = numbersIn(text);
  if (topic === undefined || a === undefined || b === undefined) {
    throw new RangeError(
      `"${text}" is no question of the ${name} world: it needs two numbers and a noun of a topic.`,
    );
  }
  return { topic, a, b };
}

/** The whole numbers in a text, in their order. */
export function numbersIn(text: string): number[] {
  return (text.match(/-?\d+/g) ?? []).map(Number);
}
