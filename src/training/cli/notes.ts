import { stringify } from 'yaml';
import { EXIT, type ExitCode, UsageError } from '../../cli/ending';
import { print } from '../../cli/terminal';
import { readCycleGroups, readMetrics, readTrainQuestions } from '../activities/records';
import type { GroupRecord } from '../records';
import { FEWEST_VALUES, groupBy } from '../../evaluation/statistics';
import { findTraining, type TrainOptions } from './session';

export async function writeNotes(options: TrainOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const questions = await readTrainQuestions(store, trainRun);
  const topics = new Map(
    [...questions].flatMap(([id, { topic }]) => (topic === undefined ? [] : [[id, topic]])),
  );
  const groups: GroupRecord[] = [];
  for (const { cycle } of await readMetrics(store, trainRun)) {
    groups.push(...(await readCycleGroups(store, trainRun, cycle)));
  }
  const notes = notesFrom(countAnswers(groups, topics));
  if (notes.size === 0) {
    throw new UsageError(
      `nothing is known of workers from training run ${trainRun} in the store ${store.url}: ` +
        'it takes a cycle that is over, and questions with a "topic"',
    );
  }
  const workers = Array.from(notes, ([id, text]) => ({ id, notes: text }));
  await print(stringify({ workers }).trimEnd());
  return EXIT.answered;
}

interface AnswerCount {
  readonly worker: string;
  readonly topic: string;
  answers: number;
  right: number;
}

/**
 * Counts each worker's right answers while a policy was trained: a rollout's answer is by the worker of its last step.
 * Ungraded answers do not count, nor do those of a second round, which are to other prompts.
 *
 * @param topics of the questions, by id; a question without one is left out
 */
export function countAnswers(
  groups: readonly GroupRecord[],
  topics: ReadonlyMap<string, string>,
): AnswerCount[] {
  const counts = new Map<string, AnswerCount>();
  const first = groups.filter(({ purpose, round }) => purpose === 'training' && round === 0);
  const rollouts = first.flatMap((group) =>
    group.rollouts.map((rollout) => ({ ...rollout, topic: topics.get(group.question) })),
  );
  for (const { topic, plan, verdict } of rollouts) {
    const worker = plan?.steps.at(-1)?.worker;
    if (topic === undefined || worker === undefined || verdict === 'ungraded') continue;
    const key = JSON.stringify([worker, topic]);
    const count = counts.get(key) ?? { worker, topic, answers: 0, right: 0 };
    counts.set(key, count);
    count.answers += 1;
    if (verdict === 'correct') count.right += 1;
  }
  return [...counts.values()];
}

/**
 * Notes on each worker, by its id, for prompts with `describe: notes`: percent of right answers by topic, best first.
 * Topics with too few answers are left out.
 */
export function notesFrom(counts: readonly AnswerCount[]): Map<string, string> {
  const known = counts
    .filter(({ answers }) => answers >= FEWEST_VALUES)
    .map(({ worker, topic, answers, right }) => ({
      worker,
      topic,
      percent: Math.round((100 * right) / answers),
    }))
    .toSorted((one, other) => other.percent - one.percent);
  const byWorker = groupBy(known, ({ worker }) => worker);
  return new Map(
    Array.from(byWorker, ([worker, topics]) => [
      worker,
      topics.map(({ topic, percent }) => `${topic} ${percent} %`).join(', '),
    ]),
  );
}
