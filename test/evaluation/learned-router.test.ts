import { questionsOf, WORKERS, type WorldQuestion } from '../../examples/evaluate/world';
import { randomFrom } from '../../src/evaluation/chance';
import { learnRouting, type GradedExample } from '../../src/evaluation/methods/learned-router';
import { meanOf } from '../../src/evaluation/statistics';

const IDS = Object.keys(WORKERS);
const skillOf = (worker: string, { topic }: WorldQuestion): number =>
  WORKERS[worker]?.[topic as 'sums' | 'letters' | 'capitals'] ?? NaN;

/** Questions that each worker of the simulated world answered alone, as its skills have it. */
function lessonsOf(questions: readonly WorldQuestion[], seed: number): GradedExample[] {
  return questions.map((question) => {
    const random = randomFrom('lessons', seed, question.id);
    const isRight = IDS.map((id): [string, boolean] => [id, random() < skillOf(id, question)]);
    return { text: question.question, isRight: Object.fromEntries(isRight) };
  });
}

const QUESTIONS = questionsOf(600);
const [EARLIER, LATER] = [QUESTIONS.slice(0, 150), QUESTIONS.slice(150)];
/** How often the workers are right that are chosen, on paper. */
const paperOf = (choose: (question: WorldQuestion) => string): number =>
  meanOf(LATER.map((question) => skillOf(choose(question), question))) ?? NaN;

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'where topics have different best workers, it beats the best single one, and comes close to whoever knows all (seed %d)',
  (seed) => {
    const choose = learnRouting(IDS, lessonsOf(EARLIER, seed));
    const single = Math.max(...IDS.map((id) => paperOf(() => id)));
    const best = meanOf(LATER.map((question) => Math.max(...IDS.map((id) => skillOf(id, question))))) ?? NaN;
    const score = paperOf(({ question }) => choose(question));
    expect(score).toBeGreaterThan(single + 0.6 * (best - single));
    expect(score).toBeLessThanOrEqual(best);
  },
);

const lesson = (text: string, isRight: GradedExample['isRight']): GradedExample => ({ text, isRight });

test('where the words tell nothing, who was right most often is chosen, and of equals the first', () => {
  const same = [lesson('x', { a: false, b: true }), lesson('x', { a: false, b: false })];
  expect(learnRouting(['a', 'b'], same)('another')).toBe('b');
  expect(learnRouting(['b', 'a'], [lesson('x', { a: true, b: true })])('x')).toBe('b');
});

test('what could not be judged counts neither way', () => {
  const lessons = [lesson('x', { a: true }), lesson('x', { b: true }), lesson('x', { b: false })];
  expect(learnRouting(['b', 'a'], lessons)('x')).toBe('a');
});

test('a question as long as a book is read in time', () => {
  const book = 'the quick brown fox 42 '.repeat(100_000);
  expect(
    learnRouting(['a', 'b'], [lesson(book, { b: true }), lesson(book, { a: false, b: true })])(book),
  ).toBe('b');
});
