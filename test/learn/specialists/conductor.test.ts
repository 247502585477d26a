import { evenExamples } from '../../../examples/learn/specialists/conductor';
import { TINY } from '../../../examples/learn/specialists/recipe';
import { ALL_PHRASES, toSubtask } from '../../../examples/learn/specialists/skills';
import { PERFECT } from './perfect-crew';

/** Whether all subtasks of a plan are in words of its question. */
function isEcho({ prompt, completion }: { readonly prompt: string; readonly completion: string }): boolean {
  const used = ALL_PHRASES.filter((phrase) => completion.includes(`"${toSubtask(phrase)}"`));
  return used.every(({ template }) => prompt.includes(` ${template.split(' ')[0]} `));
}

test('the first plans are in words of the question as often as asked for, and ask all workers', () => {
  const shareOf = (echo: number): number => {
    const examples = evenExamples(PERFECT.ids, { ...TINY, echo }, 1000, 1);
    return examples.filter(isEcho).length / examples.length;
  };
  expect(shareOf(0)).toBeLessThan(0.1);
  expect(shareOf(0.5)).toBeGreaterThan(0.45);
  expect(shareOf(0.5)).toBeLessThan(0.6);
  expect(shareOf(1)).toBe(1);

  const examples = evenExamples(PERFECT.ids, TINY, 1000, 1);
  const firstWorkers = new Set(examples.map(({ completion }) => /\[(\d)/.exec(completion)?.[1]));
  expect(firstWorkers.size).toBe(PERFECT.ids.length);
});
