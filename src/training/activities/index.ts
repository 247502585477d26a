import type { Store } from '../../store/store';
import { openSealed } from '../artifacts';
import type { CloseCycleRequest, SamplePlansRequest, WriteBatchRequest } from '../contract';
import { metricsKey } from '../store-keys';
import type { CycleMetrics } from '../records';
import * as names from '../names';
import { asFailure } from '../policy/errors';
import { writeBatch } from './batch';
import { checkInput, checkPlaces } from './check-input';
import { closeCycle, closeNight, keepCheckpoint } from './close-cycle';
import { forgetCheckpoints } from './forget-checkpoints';
import { findBaseline, judgeCanary, judgeCandidate } from './judge';
import { openNight } from './open-night';
import { QuestionSets } from '../../evaluation/activities/question-sets';
import { keepGroup, writeRecord } from './records';
import { samplePlans } from './sample-plans';
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
    [names.CHECK_PLACES]: bind(checkInput, all),
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

function sampleFromKnownServer(all: TrainingDependencies & Asked, request: SamplePlansRequest) {
  checkPlaces(all, { policyServer: request.policy.baseUrl });
  return samplePlans(all, request);
}

function keepFromKnownServer(all: TrainingDependencies, request: Parameters<typeof keepCheckpoint>[1]) {
  checkPlaces(all, { policyServer: request.settings.policy.baseUrl });
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
