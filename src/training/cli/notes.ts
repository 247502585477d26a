import { stringify } from 'yaml';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print } from '../../cli/terminal';
import { readGroups, readMetrics, readTrainQuestions } from '../client/read-runs';
import type { GroupRecord } from '../records';
import { FEWEST_VALUES } from '../../evaluation/statistics';
import { findTraining, type TrainOptions } from './session';

export async function writeNotes(options: TrainOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const questions = await readTrainQuestions(store, trainRun);
  const topics = new Map(
    [...questions].flatMap(([id, { topic }]) => (topic === undefined ? [] : [[id, topic]])),
  );
  const groups: GroupRecord[] = [];
  for (const { cycle } of await readMetrics(store, trainRun)) {
    groups.push(...(await readGroups(store, trainRun, cycle)));
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

/**
 * Notes on each worker, by its id, for prompts with `describe: notes`: percent of right answers by topic, best first.
 * Topics with too few answers are left out.
 */
export function notesFrom(counts: readonly AnswerCount[]): Map<string, string> {
  const known = counts
    .filter(({ answers }) => answers >= FEWEST_VALUES)
    .map(({ answers, right, ...of }) => ({ ...of, percent: Math.round((100 * right) / answers) }))
    .toSorted((one, other) => other.percent - one.percent);
  const notes = new Map<string, string>();
  for (const { worker, topic, percent } of known) {
    const before = notes.get(worker);
    notes.set(worker, `${before === undefined ? '' : `${before}, `}${topic} ${percent} %`);
  }
  return notes;
}

export interface AnswerCount {
  readonly worker: string;
  readonly topic: string;
  readonly answers: number;
  readonly right: number;
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
  const given = groups
    .filter(({ purpose, round }) => purpose === 'training' && round === 0)
    .flatMap(({ question, rollouts }) =>
      rollouts.map((rollout) => ({ ...rollout, topic: topics.get(question) })),
    );
  for (const { topic, plan, verdict } of given) {
    const worker = plan?.steps.at(-1)?.worker;
    if (topic === undefined || worker === undefined || verdict === 'ungraded') continue;
    const key = JSON.stringify([worker, topic]);
    const { answers, right } = counts.get(key) ?? { answers: 0, right: 0 };
    const more = verdict === 'correct' ? 1 : 0;
    counts.set(key, { worker, topic, answers: answers + 1, right: right + more });
  }
  return [...counts.values()];
}
