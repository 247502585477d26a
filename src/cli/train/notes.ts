import { stringify } from 'yaml';
import { EXIT, type ExitCode } from '../kit/ending';
import { UsageError } from '../../errors';
import { print } from '../kit/terminal';
import { resolveRun } from '../../config/resolve-run';
import { secondsAlone } from '../evaluate/earlier';
import { FEWEST_VALUES } from '../../statistics/statistics';
import { groupBy } from '../../statistics/tally';
import { readCycleGroups, readMetrics, readTrainQuestions } from '../../training/client';
import type { GroupRecord } from '../../training/definitions';
import { findTraining, type TrainOptions } from './session';

export async function writeNotes(options: TrainOptions): Promise<ExitCode> {
  const { config, store, trainRun } = await findTraining(options);
  const questions = await readTrainQuestions(store, trainRun);
  const groups: GroupRecord[] = [];
  for (const { cycle } of await readMetrics(store, trainRun)) {
    groups.push(...(await readCycleGroups(store, trainRun, cycle)));
  }
  const cards = resolveRun(config).workers;
  const workers = await Promise.all(
    notesFrom(groups, (question) => questions.get(question)?.topic).map(async ({ id, notes }) => {
      const card = cards.find((worker) => worker.id === id);
      const seconds = card === undefined ? null : await secondsAlone(store, card);
      return { id, notes: seconds === null ? notes : `${notes}; answers in ${seconds.toPrecision(2)} s` };
    }),
  );
  if (workers.length === 0) {
    throw new UsageError(
      `nothing is known of workers from training run ${trainRun} in the store ${store.url}: ` +
        'it takes a cycle that is over, and questions with a "topic"',
    );
  }
  await print(stringify({ workers }).trimEnd());
  return EXIT.answered;
}

/**
 * Returns notes on workers for prompts with `describe: notes`: percent of right answers by topic, best first. An answer
 * counts for the worker of the last step. Reviews, questions without a topic and topics with few answers are ignored.
 */
export function notesFrom(
  groups: readonly GroupRecord[],
  topicOf: (question: string) => string | undefined,
): { readonly id: string; readonly notes: string }[] {
  const answers = groups
    .filter(({ purpose, round }) => purpose === 'training' && round === 0)
    .flatMap(({ question, rollouts }) =>
      rollouts.flatMap(({ plan, verdict }) => {
        const [worker, topic] = [plan?.steps.at(-1)?.worker, topicOf(question)];
        if (topic === undefined || worker === undefined || verdict === 'ungraded') return [];
        return { worker, topic, isRight: verdict === 'correct' };
      }),
    );
  return [...groupBy(answers, ({ worker }) => worker)].flatMap(([id, own]) => {
    const topics = [...groupBy(own, ({ topic }) => topic)]
      .filter(([, some]) => some.length >= FEWEST_VALUES)
      .map(([topic, some]) => {
        const right = some.filter(({ isRight }) => isRight).length;
        return { topic, percent: Math.round((100 * right) / some.length) };
      })
      .toSorted((one, other) => other.percent - one.percent);
    const notes = topics.map(({ topic, percent }) => `${topic} ${percent} %`).join(', ');
    return notes === '' ? [] : [{ id, notes }];
  });
}
