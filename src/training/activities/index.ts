import type { TrainableConfig } from '../config/schema';
import { grade, type Verdict } from '../../grading/grade';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type { GradeAnswersRequest, TrainingActivities } from '../contract';
import * as names from '../names';
import type { AskPolicy } from '../policy/ask';
import { asFailure } from '../policy/errors';
import { writeBatch } from './batch';
import { checkPlaces } from './check-places';
import { closeCycle, closeNight, keepCheckpoint } from './close-cycle';
import { forgetCheckpoints } from './forget-checkpoints';
import { findBaseline, judgeCanary, judgeCandidate } from './judge';
import { openNight } from './open-night';
import { QuestionSets } from './questions';
import { keepGroup } from './records';
import { samplePlans } from './sample-plans';

export interface TrainingDependencies {
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly askPolicy: AskPolicy;
}

/**
 * The activities of training, without the trainer's own. A worker whose configuration has no `training:` may register them
 * too: a night that comes to it fails with that reason.
 */
export function createTrainingActivities(dependencies: TrainingDependencies): TrainingActivities {
  const { store, config } = dependencies;
  const withQuestions = { ...dependencies, questions: new QuestionSets(store) };
  return {
    [names.CHECK_PLACES]: (places) =>
      asFailure(() => {
        checkPlaces(config, places);
        return Promise.resolve();
      }),
    [names.OPEN_NIGHT]: (request) => asFailure(() => openNight(dependencies, request)),
    [names.READ_QUESTION]: (ref) =>
      asFailure(async () => {
        const { id, question } = await withQuestions.questions.read(ref);
        return { id, text: await keepText(store, question) };
      }),
    [names.SAMPLE_PLANS]: (request) =>
      asFailure(() => {
        checkPlaces(config, { policyServer: request.policy.baseUrl });
        return samplePlans(withQuestions, request);
      }),
    [names.GRADE_ANSWERS]: (request) => asFailure(() => gradeAnswers(withQuestions, request)),
    [names.KEEP_GROUP]: (group) => asFailure(() => keepGroup(store, group)),
    [names.WRITE_BATCH]: (request) => asFailure(() => writeBatch(store, request)),
    [names.KEEP_CHECKPOINT]: (request) =>
      asFailure(() => {
        checkPlaces(config, { policyServer: request.settings.policy.baseUrl });
        return keepCheckpoint(store, request);
      }),
    [names.CLOSE_CYCLE]: (request) => asFailure(() => closeCycle(store, request)),
    [names.CLOSE_NIGHT]: (request) => asFailure(() => closeNight(store, request)),
    [names.FORGET_CHECKPOINTS]: (request) => asFailure(() => forgetCheckpoints(dependencies, request)),
    [names.FIND_BASELINE]: (begun) => asFailure(() => findBaseline(dependencies, begun)),
    [names.JUDGE_CANDIDATE]: (request) => asFailure(() => judgeCandidate(store, request)),
    [names.JUDGE_CANARY]: (request) => asFailure(() => judgeCanary(store, request)),
  };
}

/** Activity `conductor.train.gradeAnswers`: judges each answer right or wrong. A plan that led to no answer is wrong. */
export async function gradeAnswers(
  { store, questions }: { readonly store: Store; readonly questions: QuestionSets },
  { question: ref, answers }: GradeAnswersRequest,
): Promise<readonly Verdict[]> {
  const question = await questions.read(ref);
  return Promise.all(
    answers.map(async (answer) =>
      answer === null ? 'wrong' : grade(question, await readText(store, answer)),
    ),
  );
}
