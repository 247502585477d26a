import { QuestionSets } from '../../evaluation/activities';
import type { Store } from '../../store/store';
import { openSealed } from '../artifacts';
import type { TrainableConfig } from '../config/schema';
import * as names from '../names';
import { asPolicyFailure } from '../policy/errors';
import { metricsKey } from '../store-keys';
import { writeBatch, type WriteBatchRequest } from './batch';
import { checkTrainingInput, checkPlaces } from './check-input';
import { closeCycle, type CloseCycleRequest, closeNight, keepCheckpoint } from './close-cycle';
import { tellCycle } from './cycle-spans';
import { forgetCheckpoints } from './forget-checkpoints';
import { keepRightPlans, writeExamples, type WriteExamplesRequest } from './imitate';
import {
  findBaseline,
  judgeCanary,
  type JudgeCanaryRequest,
  judgeCandidate,
  type JudgeCandidateRequest,
} from './judge';
import { measureCanary, measureCycle, measureGate } from './measure';
import { openNight } from './open-night';
import { writeRecord } from '../../store/records';
import { keepGroup } from './records';
import { samplePlans, type SamplePlansRequest } from './sample-plans';

export type TrainingActivities = ReturnType<typeof activitiesOf>;

/** Returns the activities of training. A worker without `training:` may register them; its nights then fail. */
export function createTrainingActivities(given: Given): TrainingActivities {
  return activitiesOf(given);
}

interface Given {
  readonly config: TrainableConfig;
  readonly store: Store;
}

function activitiesOf({ config, store }: Given) {
  const all = { config, store, questions: new QuestionSets(store) };
  return {
    [names.CHECK_PLACES]: bind(checkTrainingInput, all),
    [names.OPEN_NIGHT]: bind(openNight, all),
    [names.SAMPLE_PLANS]: bind(async (_, request: SamplePlansRequest) => {
      // Only servers of the configuration are asked, whatever a workflow names.
      checkPlaces(all, { policyServer: request.policy.baseUrl });
      return samplePlans(all, request);
    }, all),
    [names.KEEP_GROUP]: bind(keepGroup, store),
    // A worker without `training:` has no artifacts.
    [names.WRITE_BATCH]: (request: WriteBatchRequest) =>
      asPolicyFailure(async () => writeBatch({ store, sealed: openSealed(config) }, request)),
    [names.KEEP_RIGHT_PLANS]: bind(keepRightPlans, all),
    [names.WRITE_EXAMPLES]: (request: WriteExamplesRequest) =>
      asPolicyFailure(async () => writeExamples({ ...all, sealed: openSealed(config) }, request)),
    [names.KEEP_CHECKPOINT]: bind(async (_, request: Parameters<typeof keepCheckpoint>[1]) => {
      checkPlaces(all, { policyServer: request.settings.policy.baseUrl });
      return keepCheckpoint(store, request);
    }, all),
    [names.CLOSE_CYCLE]: bind(async (_, { hours, ...request }: CloseCycleRequest) => {
      const metrics = await closeCycle(store, request);
      // The metric boards of the trainer's package read only the artifacts, never the store.
      await writeRecord(openSealed(config), metricsKey(metrics.trainRun, metrics.cycle), metrics);
      measureCycle(metrics);
      if (hours !== undefined) await tellCycle(metrics.trainRun, hours);
      return metrics;
    }, all),
    [names.CLOSE_NIGHT]: bind(closeNight, store),
    [names.FORGET_CHECKPOINTS]: bind(forgetCheckpoints, all),
    [names.FIND_BASELINE]: bind(findBaseline, all),
    [names.JUDGE_CANDIDATE]: bind(async (_, request: JudgeCandidateRequest) => {
      const decision = await judgeCandidate(store, request);
      measureGate(decision);
      return decision;
    }, all),
    [names.JUDGE_CANARY]: bind(async (_, request: JudgeCanaryRequest) => {
      const decision = await judgeCanary(store, request);
      measureCanary(decision);
      return decision;
    }, all),
  };
}

function bind<Dependencies, Request, Result>(
  activity: (dependencies: Dependencies, request: Request) => Promise<Result>,
  dependencies: Dependencies,
) {
  return (request: Request): Promise<Result> => asPolicyFailure(() => activity(dependencies, request));
}
