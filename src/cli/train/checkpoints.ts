import { hash } from 'node:crypto';
import { resolve } from 'node:path';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ActivityFailure } from '@temporalio/common';
import { EXIT, type ExitCode, listenForInterruption } from '../kit/ending';
import { print, say } from '../kit/terminal';
import { follow, lookAgain, openView } from '../kit/view/follow';
import { isPolled, RefusedError } from '../../client';
import { describeConductor } from '../../config/cards';
import { reasonOf, UsageError } from '../../errors';
import { counted } from '../../trace/describe';
import { wrap } from '../../trace/lines';
import {
  advanceRun,
  type AskedHow,
  askedHow,
  askForWarmStart,
  beginExport,
  beginWarmStart,
  exampleRowSchema,
  examplesOfRun,
  openSealed,
  pin,
  promote,
  readCheckpointManifest,
  readRows,
  rollback,
  type ServingChange,
  writeExample,
} from '../../training/client';
import type { ExportResult, TrainingExample } from '../../training/definitions';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../../training/names';
import { resolveTraining, type TrainableConfig, trainingOf } from '../../training/config';
import {
  chooseRun,
  findSetback,
  findTraining,
  SEE_LIST,
  type TrainingSession,
  type TrainOptions,
  withTraining,
} from './session';

// These commands change what serves in the store alone, without a Temporal server.

type Reasoned = TrainOptions & { readonly reason: string };

export async function promoteCheckpoint(given: string, { reason, ...options }: Reasoned): Promise<ExitCode> {
  const { config, store, trainRun } = await findTraining(options);
  return told(await promote(store, readCheckpoint(given, trainRun), { reason, by: 'person' }), config);
}

export async function rollbackCheckpoint({ reason, ...options }: Reasoned): Promise<ExitCode> {
  const { config, store } = await findTraining(options);
  return told(await rollback(store, reason), config);
}

export async function pinCheckpoint({ off, ...options }: TrainOptions & { off: boolean }): Promise<ExitCode> {
  const { config, store } = await findTraining(options);
  return told(await pin(store, !off, off ? 'unpinned by hand' : 'pinned by hand'), config);
}

/** Reports a change; a checkpoint that serves already is not a failure. */
function told({ sentence, overtaken, serving }: ServingChange, config: TrainableConfig): ExitCode {
  say(`${sentence}.\nPlans of solves are written ${describePlanner(config, serving.serving)}.`);
  return overtaken ? EXIT.failed : EXIT.answered;
}

/** Describes who writes plans: the serving checkpoint is asked only if the configuration says so. */
export function describePlanner(
  { conductor }: Pick<TrainableConfig, 'conductor'>,
  serving: CheckpointRef | null,
): string {
  if (conductor.provider !== 'policy') {
    const by = `by the configured Conductor (${describeConductor(conductor)}), whatever serves`;
    return `${by}: "conductor: { provider: policy }" hands them to the checkpoint that serves`;
  }
  if (conductor.checkpoint !== undefined) {
    return `by ${conductor.checkpoint}, whatever serves: conductor.checkpoint names it`;
  }
  return serving === null
    ? 'by no one, and solves fail: conductor.provider is policy; promote a checkpoint, or name a model there'
    : `by ${checkpointId(serving)}`;
}

/** Reads `<training run>/<name>`; for the command's own run also the name alone, or the number of its cycle. */
export function readCheckpoint(text: string, trainRun: string): CheckpointRef {
  const name = /^\d{1,6}$/.test(text) ? text.padStart(6, '0') : text;
  const checkpoint = readCheckpointId(name.includes('/') ? name : `${trainRun}/${name}`);
  if (checkpoint !== null) return checkpoint;
  throw new UsageError(
    `${JSON.stringify(text)} names no checkpoint: expected a cycle such as 40, or a name such as ${trainRun}/000040`,
  );
}

// The trainer's jobs below continue without the command that started them.

/** @param folder on the trainer's machine; a relative one is resolved against the working directory here */
export function exportCheckpoint(given: string, folder: string, options: TrainOptions): Promise<ExitCode> {
  return withTraining(options, { outliving: '"train export"' }, async (session) => {
    const { config, store, temporal, trainRun } = session;
    const checkpoint = readCheckpoint(given, trainRun);
    await readCheckpointManifest(store, checkpoint);
    const { trainer, run, budget } = resolveTraining(config);
    const at = { client: temporal, taskQueue: config.temporal.taskQueue };
    const job = await beginExport(at, {
      checkpoint,
      directory: resolve(folder),
      taskQueue: trainer.taskQueue,
      heartbeatMs: run.heartbeatMs,
      timeoutMs: budget.wallClockMs,
    });
    const what = `Exporting ${checkpointId(checkpoint)}`;
    const result = await awaitJob<ExportResult>(session, job, what, trainer.taskQueue);
    if (result === undefined) return EXIT.interrupted;
    await print(result.files.map((file) => `${result.directory}/${file}`).join('\n'));
    return EXIT.answered;
  });
}

/** Waits for a job and returns its result; undefined if the user interrupted the wait, but the job continues. */
async function awaitJob<Result extends object>(
  session: TrainingSession,
  job: WorkflowHandle,
  what: string,
  trainerQueue: string,
): Promise<Result | undefined> {
  const interruption = listenForInterruption();
  if (!(await isPolled(session.temporal, trainerQueue, 'activities'))) {
    say(
      `No trainer listens on task queue ${trainerQueue} of ${session.server.address}: start one, see docs/training.md. ` +
        'This command waits for it.',
    );
  }
  const view = openView<string>(process.stderr, {
    draw: (line, { columns }) => wrap([line], columns),
    tell: (before, line) => (line === before ? [] : [line]),
  });
  const { workflowId } = job;
  const under = `${what}: workflow ${workflowId}`;
  const states = lookAgain(async () => (await findSetback(session, workflowId)) ?? under);
  const aside = (job.result() as Promise<Result>).catch(refuseInItsWords);
  const result = await follow(session, workflowId, interruption, { states, view, aside });
  if (result !== null && result !== undefined && typeof result !== 'string') return result;
  say('It goes on without this command; the same command waits for it again.');
  return undefined;
}

/** @throws RefusedError with what the trainer said */
function refuseInItsWords(error: unknown): never {
  if (!(error instanceof WorkflowFailedError)) throw error;
  const reason = error.cause instanceof ActivityFailure ? error.cause.cause : error.cause;
  throw new RefusedError(reason?.message ?? error.message, { cause: error });
}

interface WarmStartOptions extends TrainOptions {
  readonly examples?: string;
  readonly fromTraces?: string | true;
  readonly steps: number;
  readonly learningRate: number;
  readonly batch: number;
  readonly warmupSteps: number;
  readonly allWeights?: true;
}

export function warmStart(options: WarmStartOptions): Promise<ExitCode> {
  return withTraining(options, { outliving: '"train warm-start"' }, async (session) => {
    const { config, store, temporal, trainRun } = session;
    const settings = resolveTraining(config, { trainRun });
    const { trainer } = settings;
    const examples = await gatherExamples(options, trainRun, askedHow(store, settings));
    const { steps, learningRate, batch, warmupSteps } = options;
    const weights = options.allWeights ? ('all' as const) : ('tuned' as const);
    const setup = { steps, learningRate, batch, warmupSteps, weights };
    const digest = hash('sha256', JSON.stringify([setup, examples, trainer]));
    // Each setup makes a checkpoint of its own.
    const start = { ...setup, examples, name: `warm-${digest.slice(0, 8)}` };
    const asked = await askForWarmStart(openSealed(config), trainingOf(config).base, start, settings);
    const at = { client: temporal, taskQueue: config.temporal.taskQueue };
    const job = await beginWarmStart(at, { ...asked, settings });
    const what = `Learning ${counted(examples.length, 'example')} in ${counted(steps, 'step')}`;
    const checkpoint = await awaitJob<CheckpointRef>(session, job, what, trainer.taskQueue);
    if (checkpoint === undefined) return EXIT.interrupted;
    const id = checkpointId(checkpoint);
    // A training run with cycles continues from its own checkpoint, unless a night is started with --from.
    const isFirst = await advanceRun(store, { schema: 1, trainRun, done: 0, checkpoint });
    say(
      isFirst
        ? `The first night of ${trainRun} will begin with it.`
        : `${trainRun} has cycles already; to go on from this instead: temporal-conductor train start --from ${id}`,
    );
    await print(id);
    return EXIT.answered;
  });
}

async function gatherExamples(
  { examples: file, fromTraces }: WarmStartOptions,
  trainRun: string,
  asked: AskedHow,
): Promise<readonly TrainingExample[]> {
  if (file !== undefined) {
    const rows = await readRows(file, exampleRowSchema);
    const examples = rows.map(({ value, place }) =>
      writeExample(value, asked).catch((error: unknown) => {
        throw new UsageError(`${place}: ${reasonOf(error)}`, { cause: error });
      }),
    );
    return Promise.all(examples);
  }
  if (fromTraces === undefined) {
    throw new UsageError('choose a source: a file with --examples, or a training run with --from-traces');
  }
  const imitated = fromTraces === true ? trainRun : chooseRun(fromTraces);
  const { examples, unfit } = await examplesOfRun(imitated, asked);
  if (unfit > 0)
    say(`Left out: ${counted(unfit, 'right answer')} by plans that this pool could not carry out.`);
  if (examples.length > 0) return examples;
  throw new UsageError(
    `training run ${imitated} has no plan in the store ${asked.store.url} whose answer was right: ${SEE_LIST}`,
  );
}
