import { stringify } from 'yaml';
import { type AddCommands, CONFIG, RUN } from '../../cli/arguments';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print } from '../../cli/terminal';
import { readGroups, readMetrics, readTrainQuestions } from '../client/read-runs';
import type { GroupRecord, Rollout } from '../rollout';
import { FEWEST_VALUES } from '../statistics';
import { findTraining, type TrainOptions } from './session';

/** `train notes`: notes on the workers, measured on the training questions, as a configuration takes them. */
export const addNotes: AddCommands = (train, settle) => {
  train
    .command('notes')
    .description('print notes on the workers, from how they answered the training questions')
    .option(...RUN)
    .option(...CONFIG)
    .action(async (options: TrainOptions) => {
      settle(await writeNotes(options));
    });
};

async function writeNotes(options: TrainOptions): Promise<ExitCode> {
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
 * What a prompt with `describe: notes` may say of each worker, by its id: how many percent of its answers were right,
 * by topic, the topics it knows best first. A topic on which it gave too few answers to say is left out.
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
  const notes = new Map<string, string>();
  for (const { worker, topic, percent } of known) {
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
 * Counts who answered what rightly while a policy was trained: a rollout's answer is by the worker of its last step,
 * alone or after a team. What could not be judged does not count; nor do answers of a second round, which are to other
 * prompts.
 *
 * @param topics of the questions, by id; a question without one is left out
 * @returns in the order in which workers, and then topics, first came up
 */
export function countAnswers(
  groups: readonly GroupRecord[],
  topics: ReadonlyMap<string, string>,
): AnswerCount[] {
  const counts = new Map<string, AnswerCount>();
  for (const { purpose, round, question, rollouts } of groups) {
    const topic = topics.get(question);
    if (purpose !== 'training' || round !== 0 || topic === undefined) continue;
    for (const rollout of rollouts) countAnswer(counts, topic, rollout);
  }
  return [...counts.values()];
}

function countAnswer(counts: Map<string, AnswerCount>, topic: string, { plan, verdict }: Rollout): void {
  const worker = plan?.steps.at(-1)?.worker;
  if (worker === undefined || verdict === 'ungraded') return;
  const key = JSON.stringify([worker, topic]);
  const { answers, right } = counts.get(key) ?? { answers: 0, right: 0 };
  counts.set(key, { worker, topic, answers: answers + 1, right: right + (verdict === 'correct' ? 1 : 0) });
}
