import { questionsOf, WORKERS, type WorldQuestion } from '../../examples/evaluate/world';
import { randomFrom } from '../../src/statistics/chance';
import { learnRouting, type GradedExample } from '../../src/evaluation/definitions';
import { meanOf } from '../../src/statistics/statistics';

const IDS = Object.keys(WORKERS);
const skillOf = (worker: string, { topic }: WorldQuestion): number =>
  WORKERS[worker]?.[topic as 'sums' | 'letters' | 'capitals'] ?? NaN;

/** Returns questions with the workers that answered them correctly alone, drawn by their simulated skills. */
function lessonsOf(questions: readonly WorldQuestion[], seed: number): GradedExample[] {
  return questions.map((question) => {
    const random = randomFrom('lessons', seed, question.id);
    const isRight = IDS.map((id): [string, boolean] => [id, random() < skillOf(id, question)]);
    return { text: question.question, isRight: Object.fromEntries(isRight) };
  });
}

const QUESTIONS = questionsOf(600);
const [EARLIER, LATER] = [QUESTIONS.slice(0, 150), QUESTIONS.slice(150)];
/** Returns the expected share of right answers if these workers are chosen. */
const paperOf = (choose: (question: WorldQuestion) => string): number =>
  meanOf(LATER.map((question) => skillOf(choose(question), question))) ?? NaN;

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'if topics have different best workers, it beats the best single one and comes close to the ideal (seed %d)',
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

test('if the words tell nothing, it chooses the worker that was right most often, and the first of equals', () => {
  const same = [lesson('x', { a: false, b: true }), lesson('x', { a: false, b: false })];
  expect(learnRouting(['a', 'b'], same)('another')).toBe('b');
  expect(learnRouting(['b', 'a'], [lesson('x', { a: true, b: true })])('x')).toBe('b');
});

test('an answer that could not be judged counts neither way', () => {
  const lessons = [lesson('x', { a: true }), lesson('x', { b: true }), lesson('x', { b: false })];
  expect(learnRouting(['b', 'a'], lessons)('x')).toBe('a');
});

test('a question as long as a book is routed in time', () => {
  const book = 'the quick brown fox 42 '.repeat(100_000);
  expect(
    learnRouting(['a', 'b'], [lesson(book, { b: true }), lesson(book, { a: false, b: true })])(book),
  ).toBe('b');
});
