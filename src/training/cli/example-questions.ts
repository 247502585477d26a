import type { Question } from '../../grading/question';

/** Questions of each topic; every fourth is held out. */
const COUNT = 20;
const HELD_OUT_EACH = 4;

const WORDS =
  'anchor basket candle dragon engine forest garden hammer island jacket kettle ladder mirror needle orange pencil ' +
  'rocket saddle timber window';

/**
 * Small questions for a first night, which any model can be asked: of four topics with three graders, the same each time.
 * They show that a night works; what a Conductor should be good at takes questions of one's own.
 */
export function exampleQuestions(): { readonly train: Question[]; readonly heldOut: Question[] } {
  const all = Array.from({ length: COUNT }, (_, index) => [
    sum(index),
    share(index),
    larger(index),
    backwards(index),
  ]);
  const isHeldOut = (_: unknown, index: number): boolean => index % HELD_OUT_EACH === HELD_OUT_EACH - 1;
  return {
    train: all.filter((each, index) => !isHeldOut(each, index)).flat(),
    heldOut: all.filter(isHeldOut).flat(),
  };
}

function sum(index: number): Question {
  const [apples, pears, crates] = [index + 3, 2 * index + 5, 2 + (index % 7)];
  return {
    id: `sum-${index + 1}`,
    question: `A crate holds ${apples} apples and ${pears} pears. How many pieces of fruit do ${crates} crates hold?`,
    answer: `${(apples + pears) * crates}`,
    grader: 'number',
    topic: 'sums',
  };
}

function share(index: number): Question {
  const [twentieths, twenties] = [1 + (index % 19), index + 3];
  return {
    id: `share-${index + 1}`,
    question: `What is ${5 * twentieths} % of ${20 * twenties}?`,
    answer: `${twentieths * twenties}`,
    grader: 'number',
    topic: 'shares',
  };
}

function larger(index: number): Question {
  const base = index + 4;
  // The first is the larger one: (base + 2)(base + 7) exceeds (base + 3)(base + 5) by base - 1.
  const [first, second] = [`${base + 2}/${base + 5}`, `${base + 3}/${base + 7}`];
  const isFirst = index % 3 !== 0;
  const [a, b] = isFirst ? [first, second] : [second, first];
  return {
    id: `fraction-${index + 1}`,
    question: `Which is larger: A) ${a} or B) ${b}? Answer with the letter.`,
    answer: isFirst ? 'A' : 'B',
    grader: 'choice',
    topic: 'fractions',
  };
}

function backwards(index: number): Question {
  const word = WORDS.split(' ')[index] ?? '';
  return {
    id: `word-${index + 1}`,
    question: `Write the word "${word}" backwards, and nothing else.`,
    answer: word.split('').reverse().join(''),
    grader: 'exact',
    topic: 'words',
  };
}
