import type { AnswerCount } from './count-answers';
import { FEWEST_VALUES } from './mean-bound';

/**
 * What a prompt with `describe: notes` may tell of each worker, by its id: how many percent of its answers were right,
 * by topic, the topics it knows best first. A topic on which it gave too few answers to say is left out.
 */
export function notesFrom(counts: readonly AnswerCount[]): Map<string, string> {
  const told = counts
    .filter(({ answers }) => answers >= FEWEST_VALUES)
    .map(({ worker, topic, answers, right }) => ({
      worker,
      topic,
      percent: Math.round((100 * right) / answers),
    }))
    .toSorted((one, other) => other.percent - one.percent);
  const notes = new Map<string, string>();
  for (const { worker, topic, percent } of told) {
    const before = notes.get(worker);
    notes.set(worker, `${before === undefined ? '' : `${before}, `}${topic} ${percent} %`);
  }
  return notes;
}
