import type { Example } from '../../activities/training/first-checkpoint';
import { readSamples } from '../../activities/training/kept-samples';
import { PlanError } from '../../plan/plan-error';
import type { Store } from '../../store/store';
import type { GroupRecord } from '../../training/rollout';
import { UnknownWorkerError, writeExample, type AskedHow } from './plan-examples';
import { readGroups, readMetrics } from './read-cycles';
import { readTrainQuestions } from './read-train-questions';

/** What a training run has to be imitated. */
export interface RunExamples {
  /** Each question with each reply once, in the order of cycles and draws. */
  readonly examples: readonly Example[];
  /** Right answers whose plan this configuration could not carry out: another pool, fewer steps. */
  readonly unfit: number;
}

/**
 * The plans of a training run whose answers were right, as examples. First rounds only: what corrects an earlier plan
 * would teach a policy to write it before there is anything to correct.
 */
export async function examplesOfRun(trainRun: string, asked: AskedHow): Promise<RunExamples> {
  const questions = await readTrainQuestions(asked.store, trainRun);
  const examples = new Map<string, Example>();
  let unfit = 0;
  for (const { cycle } of await readMetrics(asked.store, trainRun)) {
    for (const group of await readGroups(asked.store, trainRun, cycle)) {
      const question = questions.get(group.question)?.question;
      for (const reply of await rightReplies(asked.store, group)) {
        const example = question === undefined ? null : await tryExample(question, reply, group, asked);
        if (example === null) unfit += 1;
        else examples.set(JSON.stringify(example), example);
      }
    }
  }
  return { examples: [...examples.values()], unfit };
}

/** Replies, word for word, whose plans led to a right answer. */
async function rightReplies(store: Store, { round, samples, rollouts }: GroupRecord): Promise<string[]> {
  if (round !== 0 || samples === null) return [];
  const right = rollouts.filter(({ verdict }) => verdict === 'correct');
  if (right.length === 0) return [];
  const kept = await readSamples(store, samples);
  return right.flatMap(({ index }) => kept?.rollouts[index]?.text ?? []);
}

async function tryExample(
  question: string,
  plan: string,
  { workers }: GroupRecord,
  asked: AskedHow,
): Promise<Example | null> {
  try {
    return await writeExample({ question, plan, workers: [...workers] }, asked);
  } catch (error) {
    if (error instanceof PlanError || error instanceof UnknownWorkerError) return null;
    throw error;
  }
}
