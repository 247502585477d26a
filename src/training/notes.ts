import type { GroupRecord } from './rollout';
import { FEWEST_VALUES } from './statistics';

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

/** How the answers of one worker to the questions of one topic turned out. */
export interface AnswerCount {
  readonly worker: string;
  readonly topic: string;
  readonly answers: number;
  readonly right: number;
}

/**
 * Counts who answered what rightly while a policy was trained: a rollout's answer is that of whoever had its last step,
 * alone or after a team. What nobody could judge does not count; nor do answers of a second round, which are
 * to other prompts.
 *
 * @param topics of the questions, by id; a question without one is left out
 * @returns in the order in which workers, and then topics, first came up
 */
export function countAnswers(
  groups: readonly GroupRecord[],
  topics: ReadonlyMap<string, string>,
): AnswerCount[] {
  const counts = new Map<string, AnswerCount>();
  for (const { worker, topic, isRight } of groups.flatMap((group) => answersIn(group, topics))) {
    const key = JSON.stringify([worker, topic]);
    const { answers, right } = counts.get(key) ?? { answers: 0, right: 0 };
    counts.set(key, { worker, topic, answers: answers + 1, right: right + (isRight ? 1 : 0) });
  }
  return [...counts.values()];
}

interface JudgedAnswer {
  readonly worker: string;
  readonly topic: string;
  readonly isRight: boolean;
}

function answersIn(
  { purpose, round, question, rollouts }: GroupRecord,
  topics: ReadonlyMap<string, string>,
): JudgedAnswer[] {
  const topic = topics.get(question);
  if (purpose !== 'training' || round !== 0 || topic === undefined) return [];
  return rollouts.flatMap(({ plan, verdict }) => {
    const worker = plan?.steps.at(-1)?.worker;
    if (worker === undefined || verdict === 'ungraded') return [];
    return [{ worker, topic, isRight: verdict === 'correct' }];
  });
}
