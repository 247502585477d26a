import { TrainingClient } from '../../client/training/training-client';
import { configuredKeys } from '../../encryption/configured-keys';
import type { Config } from '../../pool/config-schema';
import { openStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { attachServer, type ServerDemands } from '../attach';
import { fitToServer } from '../fit-to-server';
import { loadSettings } from '../load-settings';
import { openSession, type Session } from '../open-session';
import { chooseRun } from './choose-run';

/** The options that every command about training takes. */
export interface TrainOptions {
  readonly config?: string;
  /** Default: the training run that the configuration names. */
  readonly run?: string;
}

/** What a command about training reads, without a server. */
export interface TrainingPlace {
  readonly config: Config;
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
