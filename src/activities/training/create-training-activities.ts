import type { Config } from '../../pool/config-schema';
import type { AskPolicy } from '../../policy/ask-policy';
import type { Store } from '../../store/store';
import type { TrainingActivities } from '../../training/activities';
import * as names from '../../training/names';
import { asFailure } from '../as-failure';
import { closeCycle } from './close-cycle';
import { closeNight } from './close-night';
import { findBaseline } from './find-baseline';
import { forgetCheckpoints } from './forget-checkpoints';
import { gradeAnswers } from './grade-answers';
import { keepGroup } from './groups';
import { judgeCanary } from './judge-canary';
import { judgeCandidate } from './judge-candidate';
import { keepCheckpoint } from './keep-checkpoint';
import { openNight } from './open-night';
import { QuestionSets } from './question-set';
import { readQuestion } from './read-question';
import { samplePlans } from './sample-plans';
import { writeBatch } from './write-batch';

/** What the activities of training work with. */
export interface TrainingDependencies {
  readonly config: Config;
  readonly store: Store;
  readonly askPolicy: AskPolicy;
}

/**
 * The side effects of training, the trainer's own apart, ready to be registered on a worker. A worker whose
 * configuration has no `training:` may register them as well: a night that comes to it is told so.
 */
export function createTrainingActivities(dependencies: TrainingDependencies): TrainingActivities {
  const { store } = dependencies;
  const withQuestions = { ...dependencies, questions: new QuestionSets(store) };
  return {
    [names.OPEN_NIGHT]: (request) => asFailure(() => openNight(dependencies, request)),
    [names.READ_QUESTION]: (ref) => asFailure(() => readQuestion(withQuestions, ref)),
    [names.SAMPLE_PLANS]: (request) => asFailure(() => samplePlans(withQuestions, request)),
    [names.GRADE_ANSWERS]: (request) => asFailure(() => gradeAnswers(withQuestions, request)),
    [names.KEEP_GROUP]: (group) => asFailure(() => keepGroup(dependencies, group)),
    [names.WRITE_BATCH]: (request) => asFailure(() => writeBatch(dependencies, request)),
    [names.KEEP_CHECKPOINT]: (request) => asFailure(() => keepCheckpoint(dependencies, request)),
    [names.CLOSE_CYCLE]: (request) => asFailure(() => closeCycle(dependencies, request)),
    [names.CLOSE_NIGHT]: (request) => asFailure(() => closeNight(dependencies, request)),
    [names.FORGET_CHECKPOINTS]: (request) => asFailure(() => forgetCheckpoints(dependencies, request)),
    [names.FIND_BASELINE]: (begun) => asFailure(() => findBaseline(dependencies, begun)),
    [names.JUDGE_CANDIDATE]: (request) => asFailure(() => judgeCandidate(store, request)),
    [names.JUDGE_CANARY]: (request) => asFailure(() => judgeCanary(store, request)),
  };
}
