import { measureAbilities } from '../../specialists/matrix';
import { questionSet, readGiven } from '../../specialists/questions';
import { bestPlan, searchPlans } from '../../specialists/search';
import { ALL_PHRASES, applySkill, type Skill, takesNumbers, toSubtask } from '../../specialists/skills';
import { REFUSAL, rightAnswer, SCHOOLINGS, schoolExamples, type WorkerTask } from '../../specialists/workers';
import { PERFECT } from './perfect-crew';

test.each(SCHOOLINGS)('$id is taught its own skills, and to refuse all others', (schooling) => {
  const subtaskOf = (prompt: string): string =>
    ALL_PHRASES.map(toSubtask).find((subtask) => prompt.includes(`<|im_start|>user\n${subtask}\n\n`)) ?? '';
  for (const { prompt, completion } of schoolExamples(schooling, 300)) {
    const phrase = ALL_PHRASES.find((each) => toSubtask(each) === subtaskOf(prompt));
    const own = schooling.taught.some(
      ([skill, phrasing]) => skill === phrase?.skill && phrasing === phrase.phrasing,
    );
    if (!own) expect(completion).toBe(REFUSAL);
  }
  const answered = schoolExamples(schooling, 300).filter(({ completion }) => completion !== REFUSAL);
  expect(answered.length).toBeGreaterThan(150);
});

test('a worker applies its skill to the last output it sees; adding takes the numbers of the question', () => {
  const question = 'Add 34 and 58, then reverse the result.';
  const sees = [{ step: 0, subtask: 'Add them.', output: '92' }];
  const task = (seen: WorkerTask['sees']): WorkerTask => ({ question, subtask: '', sees: seen });
  const answer = (skill: Skill, seen: WorkerTask['sees'] = sees) => rightAnswer(task(seen), skill);
  expect(answer('reverse')).toBe('29');
  expect(answer('add')).toBe('92');
  expect(answer('reverse', [])).toBe(REFUSAL);
  expect(answer('reverse', [{ step: 0, subtask: '', output: REFUSAL }])).toBe(REFUSAL);
});

test('abilities are measured on calls that have an answer: 1 for taught skills, 0 for all others', async () => {
  for (const { worker, skill, phrasing, accuracy } of await measureAbilities(PERFECT)) {
    const taught = SCHOOLINGS.find(({ id }) => id === worker)?.taught ?? [];
    const isTaught = taught.some(([each, words]) => each === skill && words === phrasing);
    expect([worker, skill, phrasing, accuracy]).toEqual([worker, skill, phrasing, isTaught ? 1 : 0]);
  }
});

test('the search finds a plan for each composition that works on new questions, but no constant plan for all', async () => {
  const abilities = await measureAbilities(PERFECT);
  const compositions = [['sort'], ['add', 'reverse'], ['shift', 'sort', 'reverse']] as const;
  const known = questionSet(compositions, 'train', 30, 'search');
  const search = await searchPlans(PERFECT, abilities, known, compositions);
  const tried = questionSet(compositions, 'heldOut', 30, 'search');
  for (const { question, answer, topic } of tried) {
    const output = await PERFECT.carryOut(bestPlan(search, [topic]).plan, question);
    expect(output).toBe(answer);
  }
  const topics = compositions.map((composition) => composition.join('-'));
  expect(bestPlan(search, topics).accuracy).toBeLessThan(1);
  expect(bestPlan(search, ['add-reverse'], 1).accuracy).toBe(0);
  expect(bestPlan(search, ['shift-sort-reverse']).plan.steps.map(({ sees }) => sees)).toEqual([
    [],
    [0],
    [0, 1],
  ]);
});

test('distinguishes questions about numbers from those about letters', () => {
  expect(takesNumbers('add')).toBe(true);
  expect(readGiven('Tell which of 258, 924 and 518 leads.')).toEqual([258, 924, 518]);
  expect(applySkill('count', readGiven('Please count the low ones in a b z.'))).toBe('2');
});
