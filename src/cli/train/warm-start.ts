import { createHash } from 'node:crypto';
import { askForWarmStart, type Example, type Lesson } from '../../activities/training/first-checkpoint';
import { readRun, writeRun } from '../../activities/training/records';
import { beginWarmStart } from '../../client/training/trainer-jobs';
import { resolveTraining, trainingOf } from '../../pool/resolve-training';
import type { Store } from '../../store/store';
import { counted } from '../../trace/counted';
import { checkpointId } from '../../training/manifest';
import type { CheckpointRef } from '../../training/train-input';
import type { TrainingSettings } from '../../training/training-settings';
import { EXIT, type ExitCode } from '../exit-code';
import { print, say } from '../terminal';
import { awaitJob } from './await-job';
import { gatherExamples, type ExampleSource } from './gather-examples';
import { withTraining, type TrainOptions } from './open-training';

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
