import { createHash } from 'node:crypto';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print, say } from '../../cli/terminal';
import type { Store } from '../../store/store';
import { counted } from '../../trace/describe';
import { askForWarmStart, type Example, type Lesson } from '../activities/first-checkpoint';
import { readRows, type Row } from '../activities/questions';
import { readRun, writeRun } from '../activities/records';
import {
  type AskedHow,
  type ExampleRow,
  exampleRowSchema,
  examplesOfRun,
  writeExample,
} from '../client/examples';
import { beginWarmStart } from '../client/trainer-jobs';
import { resolveTraining, trainingOf } from '../config/resolve';
import type { CheckpointRef } from '../input';
import { checkpointId } from '../manifest';
import type { TrainingSettings } from '../settings';
import { awaitJob, chooseRun, type TrainOptions, withTraining } from './session';

/** The options of `train warm-start`. */
export interface WarmStartOptions extends TrainOptions, ExampleSource {
  readonly steps: number;
  readonly learningRate: number;
  readonly batch: number;
  readonly warmupSteps: number;
}

/** Has the trainer make a first checkpoint that imitates examples, and prints its name: nights begin with it. */
export function warmStart(options: WarmStartOptions): Promise<ExitCode> {
  return withTraining(options, { outliving: '"train warm-start"' }, async (session) => {
    const { config, store, temporal, trainRun } = session;
    const settings = resolveTraining(config, { trainRun });
    const { policy, run, trainer } = settings;
    const asked = {
      store,
      workers: run.workers,
      settings: { ...policy, maxSteps: run.limits.steps },
    };
    const examples = await gatherExamples(options, trainRun, asked);
    const { init, warmStart } = await askForWarmStart(
      store,
      trainingOf(config).base,
      lessonOf(options, examples, settings),
      settings,
    );
    const input = { init, warmStart, settings };
    const job = await beginWarmStart(temporal, config.temporal.taskQueue, input);
    const checkpoint = await awaitJob(session, job, {
      what: `Learning ${counted(examples.length, 'example')} in ${counted(options.steps, 'step')}`,
      trainerQueue: trainer.taskQueue,
    });
    if (checkpoint === undefined) return EXIT.interrupted;
    await beginNightsWith(store, checkpoint);
    await print(checkpointId(checkpoint));
    return EXIT.answered;
  });
}

/** Its checkpoint is called by what it was made of: another lesson makes another one, beside it. */
function lessonOf(
  { steps, learningRate, batch, warmupSteps }: WarmStartOptions,
  examples: readonly Example[],
  { trainer }: TrainingSettings,
): Lesson {
  const numbers = { steps, learningRate, batch, warmupSteps };
  const digest = createHash('sha256')
    .update(JSON.stringify([numbers, examples, trainer]))
    .digest('hex');
  return { ...numbers, examples, name: `warm-${digest.slice(0, 8)}` };
}

/** A training run that has learned something already goes on from that, unless a night is told otherwise. */
async function beginNightsWith(store: Store, checkpoint: CheckpointRef): Promise<void> {
  const { trainRun } = checkpoint;
  const run = await readRun(store, trainRun);
  if ((run?.done ?? 0) > 0) {
    say(
      `${trainRun} has cycles already; to go on from this instead: temporal-conductor train start --from ${checkpointId(checkpoint)}`,
    );
    return;
  }
  await writeRun(store, { schema: 1, trainRun, done: 0, checkpoint });
  say(`The first night of ${trainRun} will begin with it.`);
}

/** Where examples come from: exactly one of the two. */
export interface ExampleSource {
  /** File of JSON lines. */
  readonly examples?: string;
  /** A training run whose right plans they are; true: the command's own. */
  readonly fromTraces?: string | true;
}

/**
 * The examples of a warm start, each in the words in which the policy will be asked.
 *
 * @throws UsageError where no source is named or it has nothing to imitate
 * @throws ConfigError that names file, line and value of each mistake
 */
async function gatherExamples(
  { examples, fromTraces }: ExampleSource,
  trainRun: string,
  asked: AskedHow,
): Promise<readonly Example[]> {
  if (examples !== undefined) return readExampleFile(examples, asked);
  if (fromTraces !== undefined) return fromRun(fromTraces === true ? trainRun : chooseRun(fromTraces), asked);
  throw new UsageError('from what? Name a file with --examples, or a training run with --from-traces');
}

async function readExampleFile(file: string, asked: AskedHow): Promise<Example[]> {
  const examples: Example[] = [];
  for (const row of await readRows(file, exampleRowSchema)) examples.push(await writeRow(row, asked));
  return examples;
}

async function writeRow({ value, place }: Row<ExampleRow>, asked: AskedHow): Promise<Example> {
  try {
    return await writeExample(value, asked);
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function fromRun(trainRun: string, asked: AskedHow): Promise<readonly Example[]> {
  const { examples, unfit } = await examplesOfRun(trainRun, asked);
  if (unfit > 0) {
    say(
      `Left out: ${counted(unfit, 'right answer')} of ${trainRun} by plans that this pool could not carry out.`,
    );
  }
  if (examples.length > 0) return examples;
  throw new UsageError(
    `training run ${trainRun} has no plan in the store ${asked.store.url} whose answer was right: ` +
      'see "temporal-conductor train list" for what there is',
  );
}
