import { UsageError } from '../../cli/exit-code';
import { type ServerDemands, type Session, withSession } from '../../cli/session';
import { loadSettings } from '../../cli/settings';
import { configuredKeys } from '../../encryption/keys';
import { openStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { TrainingClient } from '../client/training-client';
import type { TrainableConfig, TrainingConfig } from '../config/schema';
import { isTimeZone } from '../night-ids';

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

/** @throws UsageError where neither the options nor the configuration name a training run */
export async function findTraining({ config: file, run }: TrainOptions): Promise<TrainingPlace> {
  const { config, store } = await openConfigured(file);
  return { config, store, trainRun: chooseRun(run ?? config.training?.run) };
}

/** The configuration, and the store that it names. */
export async function openConfigured(file?: string): Promise<Pick<TrainingPlace, 'config' | 'store'>> {
  const config = await loadSettings(file);
  return { config, store: openStore(config.store, process.cwd(), { keys: configuredKeys(config) }) };
}

/** Does something with the server of a training run, and gives everything back. */
export async function withTraining<Result>(
  options: TrainOptions,
  demands: ServerDemands,
  work: (session: TrainingSession) => Promise<Result>,
): Promise<Result> {
  const place = await findTraining(options);
  const setting = { file: options.config, role: 'look', ...demands } as const;
  return withSession(place.config, setting, (session) => {
    const { temporal, config } = session;
    const training = new TrainingClient({ client: temporal, taskQueue: config.temporal.taskQueue });
    return work({ ...place, ...session, training });
  });
}

/**
 * The training run that a command is about: the one it was given, else the configuration's.
 *
 * @throws UsageError where neither names one, or what was given is no name
 */
export function chooseRun(named: string | undefined): string {
  if (named === undefined) {
    throw new UsageError('which training run? Name it, or set training.run in the configuration');
  }
  if (/^[a-z0-9][a-z0-9-]{0,62}$/.test(named)) return named;
  throw new UsageError(
    `${JSON.stringify(named)} is no training run: expected up to 63 small letters, digits and dashes`,
  );
}

/** @throws UsageError where the configuration has no `training:` */
export function checkConfigured({ training }: TrainableConfig): TrainingConfig {
  if (training !== undefined) return training;
  throw new UsageError(
    'the configuration has no "training:": name a profile and files of questions there, see docs/training.md',
  );
}

/**
 * The time zone whose calendar names the nights: the one given, else that of this process.
 *
 * @throws UsageError where there is no such time zone
 */
export function chooseTimeZone(timezone: string | undefined): string {
  if (timezone === undefined) return new Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (isTimeZone(timezone)) return timezone;
  throw new UsageError(
    `--timezone ${JSON.stringify(timezone)} is unknown: expected a name of the tz database, such as Europe/Berlin`,
  );
}

/** For a training run of which the store knows nothing, or not enough. */
export const SEE_LIST = 'see "temporal-conductor train list" for what there is';
