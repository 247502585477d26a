import type { Store } from '../../store/store';
import { openSealed } from '../artifacts';
import type { CloseCycleRequest, NamedPlaces, SamplePlansRequest, WriteBatchRequest } from '../contract';
import { metricsKey } from '../store-keys';
import type { CycleMetrics } from '../records';
import * as names from '../names';
import { asFailure } from '../policy/errors';
import { writeBatch } from './batch';
import { closeCycle, closeNight, keepCheckpoint } from './close-cycle';
import { forgetCheckpoints } from './forget-checkpoints';
import { findBaseline, judgeCanary, judgeCandidate } from './judge';
import { openNight } from './open-night';
import { QuestionSets } from '../../evaluation/activities/question-sets';
import { keepGroup, writeRecord } from './records';
import { samplePlans } from './sample-plans';
import { ConfigError } from '../../config/errors';
import { trainingOf } from '../config/resolve';
import type { TrainableConfig } from '../config/schema';

export interface TrainingDependencies {
  readonly config: TrainableConfig;
  readonly store: Store;
}

/** The side effects of training, by activity type. */
export type TrainingActivities = ReturnType<typeof activitiesOf>;

/**
 * The activities of training, without the trainer's own. A worker whose configuration has no `training:` may register them
 * too: a night that comes to it fails with that reason.
 */
export function createTrainingActivities(dependencies: TrainingDependencies): TrainingActivities {
  return activitiesOf({ ...dependencies, questions: new QuestionSets(dependencies.store) });
}

type Asked = Pick<TrainingDependencies, 'store'> & { readonly questions: QuestionSets };

function activitiesOf(all: TrainingDependencies & Asked) {
  const { store } = all;
  return {
    [names.CHECK_PLACES]: bind(checkPlaces, all),
    [names.OPEN_NIGHT]: bind(openNight, all),
    [names.SAMPLE_PLANS]: bind(sampleFromKnownServer, all),
    [names.KEEP_GROUP]: bind(keepGroup, store),
    [names.WRITE_BATCH]: bind(writeConfiguredBatch, all),
    [names.KEEP_CHECKPOINT]: bind(keepFromKnownServer, all),
    [names.CLOSE_CYCLE]: bind(closeForBoards, all),
    [names.CLOSE_NIGHT]: bind(closeNight, store),
    [names.FORGET_CHECKPOINTS]: bind(forgetCheckpoints, all),
    [names.FIND_BASELINE]: bind(findBaseline, all),
    [names.JUDGE_CANDIDATE]: bind(judgeCandidate, store),
    [names.JUDGE_CANARY]: bind(judgeCanary, store),
  };
}

function bind<Dependencies, Request, Result>(
  activity: (dependencies: Dependencies, request: Request) => Promise<Result>,
  dependencies: Dependencies,
) {
  return (request: Request): Promise<Result> => asFailure(() => activity(dependencies, request));
}

// Asks only servers of the configuration, whatever a workflow names.

async function sampleFromKnownServer(all: TrainingDependencies & Asked, request: SamplePlansRequest) {
  await checkPlaces(all, { policyServer: request.policy.baseUrl });
  return samplePlans(all, request);
}

async function keepFromKnownServer(all: TrainingDependencies, request: Parameters<typeof keepCheckpoint>[1]) {
  await checkPlaces(all, { policyServer: request.settings.policy.baseUrl });
  return keepCheckpoint(all.store, request);
}

// Only what a configuration names as its artifacts is written; a worker without `training:` has none.

function writeConfiguredBatch({ store, config }: TrainingDependencies, request: WriteBatchRequest) {
  return writeBatch({ store, sealed: openSealed(config) }, request);
}

/** Boards are fed by the trainer's package, which reads no store. */
async function closeForBoards(
  { store, config }: TrainingDependencies,
  request: CloseCycleRequest,
): Promise<CycleMetrics> {
  const metrics = await closeCycle(store, request);
  await writeRecord(openSealed(config), metricsKey(metrics.trainRun, metrics.cycle), metrics);
  return metrics;
}

/**
 * Local activity `conductor.train.checkPlaces`: whether the places that a workflow's input names are those of this
 * process's own configuration. Any client may write such an input; what it names otherwise is given no work.
 *
 * @throws ConfigError that says which place is another one
 */
function checkPlaces(
  { config }: Pick<TrainingDependencies, 'config'>,
  { policyServer, trainerQueue, modelFolder }: NamedPlaces,
): Promise<void> {
  const { policy, trainer, base } = trainingOf(config);
  const places = [
    ['the policy server', policyServer, 'training.policy.baseUrl', policy.baseUrl],
    ["the trainer's queue", trainerQueue, 'training.trainer.taskQueue', trainer.taskQueue],
    ['the base model', modelFolder, 'training.base', base.kind === 'folder' ? base.path : base.kind],
  ] as const;
  for (const [what, named, setting, own] of places) {
    if (named === undefined || named === own) continue;
    throw new ConfigError(
      `the input names ${what} ${named}, and ${setting} is ${own} in the configuration of this worker process: give all ` +
        'worker processes the same configuration, and start it again',
    );
  }
  return Promise.resolve();
}
