import { evenExamples } from '../../specialists/conductor';
import { TINY } from '../../specialists/recipe';
import { ALL_PHRASES, toSubtask } from '../../specialists/skills';
import { PERFECT } from './perfect-crew';

/** Whether every subtask of a plan uses a phrasing of its question. */
function isEcho({ prompt, completion }: { readonly prompt: string; readonly completion: string }): boolean {
  const used = ALL_PHRASES.filter((phrase) => completion.includes(`"${toSubtask(phrase)}"`));
  return used.every(({ template }) => prompt.includes(` ${template.split(' ')[0]} `));
}

test('the first plans use the wording of the question, and ask all workers', () => {
  const examples = evenExamples(PERFECT.ids, TINY, 1000, 1);
  expect(examples.every(isEcho)).toBe(true);
  const firstWorkers = new Set(examples.map(({ completion }) => /\[(\d)/.exec(completion)?.[1]));
  expect(firstWorkers.size).toBe(PERFECT.ids.length);
});
