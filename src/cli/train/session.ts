import { type Client, WorkflowFailedError } from '@temporalio/client';
import { rootCause } from '@temporalio/common';
import { isNotFound } from '../../client';
import { expectationIn } from '../../config/expectation';
import { UsageError } from '../../errors';
import { type Session, type SessionOptions, withSession } from '../kit/session';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { checkStore, configuredStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { TrainingClient } from '../../training/client';
import type { TrainableConfig } from '../../training/config';
import { trainRunSchema } from '../../training/definitions';
import { nightWorkflowId } from '../../training/names';

export interface TrainOptions extends WorkOptions {
  readonly run?: string;
  readonly json?: boolean;
}

interface TrainingPlace {
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly trainRun: string;
}

export interface TrainingSession extends Session {
  readonly trainRun: string;
  readonly training: TrainingClient;
}

export async function findTraining(options: TrainOptions): Promise<TrainingPlace> {
  const config = await loadSettings(options);
  return { config, store: configuredStore(config), trainRun: chooseRun(options.run ?? config.training?.run) };
}

export async function withTraining<Result>(
  options: TrainOptions,
  demands: Partial<SessionOptions>,
  work: (session: TrainingSession) => Promise<Result>,
): Promise<Result> {
  const { config, trainRun } = await findTraining(options);
  if (demands.outliving !== undefined) await checkStore(config.store);
  return withSession(config, options, { role: 'look', ...demands }, (session) => {
    const { taskQueue } = session.config.temporal;
    const training = new TrainingClient({ client: session.temporal, taskQueue });
    return work({ ...session, trainRun, training });
  });
}

export async function findSetback({ conductor }: TrainingSession, id: string): Promise<string | null> {
  const [retry] = await conductor.retries(id);
  if (retry === undefined) return null;
  const { attempt, reason } = retry;
  return /heartbeat timeout/i.test(reason)
    ? `The trainer was lost in attempt ${attempt - 1}: start it again, unless something else does.`
    : `Attempt ${attempt - 1} failed, and is made again: ${reason}`;
}

/** Returns the root cause of the last night's failure; null if it did not fail or the server no longer knows it. */
export async function whyFailed(client: Client, trainRun: string): Promise<string | null> {
  const handle = client.workflow.getHandle(nightWorkflowId(trainRun));
  try {
    if ((await handle.describe()).status.name === 'FAILED') await handle.result();
    return null;
  } catch (error) {
    if (isNotFound(error)) return null;
    if (!(error instanceof WorkflowFailedError)) throw error;
    return rootCause(error.cause) ?? error.message;
  }
}

/** @throws UsageError if the name is missing or invalid */
export function chooseRun(named: string | undefined): string {
  if (named === undefined) {
    const remedy = 'name one with --run, or write a training section with "temporal-conductor train init"';
    throw new UsageError(
      `the configuration has no training section, and no training run is named: ${remedy}`,
    );
  }
  const { success, error } = trainRunSchema.safeParse(named);
  if (success) return named;
  throw new UsageError(
    `${JSON.stringify(named)} is not the name of a training run: ${error.issues.map(expectationIn).join(', ')}`,
  );
}

export const SEE_LIST = 'see "temporal-conductor train list" for what there is';
