import { questionSet, readQuestion, toJsonLines } from '../world/questions';
import { SMALL_WORLD, WHOLE_WORLD } from '../world/world';

const train = questionSet(WHOLE_WORLD, 'train', 800, 7);
const heldOut = questionSet(WHOLE_WORLD, 'heldOut', 200, 7);

/** Returns the question without its numbers. */
function wordsOf(question: string): string {
  return question.replace(/\d+/g, '#');
}

test('held-out questions share neither a pair of sentence and noun nor their numbers with the training set', () => {
  const seenWords = new Set(train.map(({ question }) => wordsOf(question)));
  const numbers = (question: string) => question.match(/\d+/g)?.join(' ');
  const seenNumbers = new Set(train.map(({ question }) => numbers(question)));
  expect(heldOut.filter(({ question }) => seenWords.has(wordsOf(question)))).toEqual([]);
  expect(heldOut.filter(({ question }) => seenNumbers.has(numbers(question)))).toEqual([]);
});

test('questions are all different and can be read back, and each topic has its share', () => {
  const all = [...train, ...heldOut];
  expect(new Set(all.map(({ question }) => question)).size).toBe(1000);
  expect(new Set(all.map(({ id }) => id)).size).toBe(1000);
  for (const { question, answer, topic } of all) {
    const { a, b, topic: read } = readQuestion(WHOLE_WORLD, question);
    expect([read.name, String(a + b)]).toEqual([topic, answer]);
  }
  expect(train.filter(({ topic }) => topic === 'law')).toHaveLength(200);
});

test('the same seed draws the same questions, which can be written as JSON Lines', () => {
  expect(questionSet(WHOLE_WORLD, 'train', 800, 7)).toEqual(train);
  expect(questionSet(WHOLE_WORLD, 'train', 800, 8)).not.toEqual(train);
  expect(
    toJsonLines(train)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown),
  ).toEqual(train);
});

test('asking for more questions than exist is an error, not an endless search', () => {
  expect(() => questionSet(SMALL_WORLD, 'heldOut', 100_000, 0)).toThrow(
    '100000 different heldOut questions are too many',
  );
});
