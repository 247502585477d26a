import { measureNotes } from '../plain/notes';
import { questionSet } from '../world/questions';
import { WHOLE_WORLD, type World } from '../world/world';

const questions = questionSet(WHOLE_WORLD, 'train', 400, 3);

/** Returns the whole world with changed chances of one worker to solve. */
function withSolver(id: string, change: Partial<World['workers'][number]['solve']>): World {
  const workers = WHOLE_WORLD.workers.map((worker) =>
    worker.id === id ? { ...worker, solve: { ...worker.solve, ...change } } : worker,
  );
  return { ...WHOLE_WORLD, workers };
}

test('notes name what each worker does better than the others, with the percentage of right answers', () => {
  const notes = measureNotes(WHOLE_WORLD, questions, 3);
  const strengths = [...notes].map(([id, told]) => [id, told.match(/[a-z]+/g)?.toSorted()]);
  expect(Object.fromEntries(strengths)).toEqual({
    quick: ['trivia'],
    writer: ['refine'],
    maths: ['algebra'],
    coder: ['code'],
    critic: ['law', 'verify'],
  });
  const percent = Number(notes.get('quick')?.replace('trivia ', ''));
  // Three standard deviations of 100 trials at 0.95.
  expect(Math.abs(percent - 95)).toBeLessThan(10);
});

test("notes follow the workers' answers", () => {
  const notes = measureNotes(withSolver('coder', { law: 0.9, code: 0.05 }), questions, 3);
  expect(notes.get('coder')).toMatch(/^law (8|9)\d$/);
});

test('notes are measured, not looked up: another seed gives other figures, the same seed the same', () => {
  expect(measureNotes(WHOLE_WORLD, questions, 3)).toEqual(measureNotes(WHOLE_WORLD, questions, 3));
  expect(measureNotes(WHOLE_WORLD, questions, 3)).not.toEqual(measureNotes(WHOLE_WORLD, questions, 4));
});
