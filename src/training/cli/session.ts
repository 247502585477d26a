import { attachServer, fitToServer, type ServerDemands } from '../../cli/attach';
import { UsageError } from '../../cli/exit-code';
import { listenForInterruption, unlessInterrupted } from '../../cli/interruption';
import { openSession, type Session } from '../../cli/session';
import { loadSettings } from '../../cli/settings';
import { say } from '../../cli/terminal';
import type { TrainableConfig } from '../config/schema';
import { configuredKeys } from '../../encryption/keys';
import { openStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { hasTrainer, type TrainerJob } from '../client/trainer-jobs';
import { TrainingClient } from '../client/training-client';

/** The options that every command about training takes. */
export interface TrainOptions {
  readonly config?: string;
  /** Default: the training run that the configuration names. */
  readonly run?: string;
}

/** What a command about training reads, without a server. */
export interface TrainingPlace {
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly trainRun: string;
}

/** The same, with a server. */
export interface TrainingSession extends TrainingPlace, Omit<Session, 'conductor'> {
  readonly training: TrainingClient;
}

/** @throws UsageError where no training run is named, neither by the options nor by the configuration */
export async function findTraining({ config: file, run }: TrainOptions): Promise<TrainingPlace> {
  const config = await loadSettings(file);
  const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
  return { config, store, trainRun: chooseRun(run ?? config.training?.run) };
}

/** Does something with the server of a training run, and gives everything back. */
export async function withTraining<Result>(
  options: TrainOptions,
  demands: ServerDemands,
  work: (session: TrainingSession) => Promise<Result>,
): Promise<Result> {
  const place = await findTraining(options);
  const server = await attachServer(place.config, demands);
  const config = fitToServer(server, place.config, options.config);
  const session = await openSession(server, config);
  const { temporal } = session;
  const training = new TrainingClient({ client: temporal, taskQueue: config.temporal.taskQueue });
  try {
    return await work({ ...place, ...session, config, training });
  } finally {
    await session.close();
  }
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * The training run that a command is about: the one it was given, else the configuration's.
 *
 * @throws UsageError where neither names one, or what was given is no name
 */
export function chooseRun(named: string | undefined): string {
  if (named === undefined) {
    throw new UsageError('which training run? Name it, or set training.run in the configuration');
  }
  if (NAME.test(named)) return named;
  throw new UsageError(
    `${JSON.stringify(named)} is no training run: expected up to 63 small letters, digits and dashes`,
  );
}

/** What a job of the trainer is, in words, and where the trainer listens. */
export interface AwaitedJob {
  readonly what: string;
  readonly trainerQueue: string;
}

/**
 * Waits for the trainer to have done what it was asked for.
 *
 * @returns undefined when the person at the keyboard left before: the job goes on
 */
export async function awaitJob<Result>(
  { temporal, server }: TrainingSession,
  job: TrainerJob<Result>,
  { what, trainerQueue }: AwaitedJob,
): Promise<Result | undefined> {
  const interruption = listenForInterruption();
  say(`${what}: workflow ${job.id}`);
  if (!(await hasTrainer(temporal, trainerQueue))) {
    say(
      `No trainer listens on task queue ${trainerQueue} of ${server.address}: start one, see docs/training.md. ` +
        'This command waits for it.',
    );
  }
  const result = await unlessInterrupted(interruption, job.result());
  if (result === undefined) say('It goes on without this command; the same command waits for it again.');
  return result;
}
