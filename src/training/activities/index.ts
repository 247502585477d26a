import type { TrainableConfig } from '../config/schema';
import { whileHeartbeating } from '../../activities/heartbeat';
import { grade, type RightAnswer } from '../../grading/grade';
import { type Grade, shown } from '../../grading/verdict';
import type { Text } from '../../protocol/text';
import type { Store } from '../../store/store';
import { keepText, readText } from '../../store/texts';
import type {
  AskedQuestion,
  CustomGrader,
  Judged,
  QuestionRef,
  Verification,
} from '../../evaluation/contract';
import type { SamplePlansRequest } from '../contract';
import * as names from '../names';
import type { AskPolicy } from '../policy/ask';
import { asFailure } from '../policy/errors';
import { writeBatch } from './batch';
import { checkPlaces } from './check-places';
import { closeCycle, closeNight, keepCheckpoint } from './close-cycle';
import { forgetCheckpoints } from './forget-checkpoints';
import { findBaseline, judgeCanary, judgeCandidate } from './judge';
import { openNight } from './open-night';
import { QuestionSets } from '../../evaluation/activities/question-sets';
import { keepGroup } from './records';
import { samplePlans } from './sample-plans';
import { verificationOf } from '../../evaluation/activities/verification';

export interface TrainingDependencies {
  readonly config: TrainableConfig;
  readonly store: Store;
  readonly askPolicy: AskPolicy;
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
    [names.READ_QUESTION]: bind(readQuestion, all),
    [names.SAMPLE_PLANS]: bind(sampleFromKnownServer, all),
    [names.GRADE_ANSWERS]: bind(gradeWithHeartbeats, all),
    [names.KEEP_GROUP]: bind(keepGroup, store),
    [names.WRITE_BATCH]: bind(writeBatch, store),
    [names.KEEP_CHECKPOINT]: bind(keepFromKnownServer, all),
    [names.CLOSE_CYCLE]: bind(closeCycle, store),
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

// What comes from a workflow may name a server; only the configuration's own is asked.

async function sampleFromKnownServer(all: TrainingDependencies & Asked, request: SamplePlansRequest) {
  await checkPlaces(all, { policyServer: request.policy.baseUrl });
  return samplePlans(all, request);
}

async function keepFromKnownServer(all: TrainingDependencies, request: Parameters<typeof keepCheckpoint>[1]) {
  await checkPlaces(all, { policyServer: request.settings.policy.baseUrl });
  return keepCheckpoint(all.store, request);
}

async function readQuestion({ store, questions }: Asked, ref: QuestionRef): Promise<AskedQuestion> {
  const { id, topic, question } = await questions.read(ref);
  return { id, topic, text: await keepText(store, question) };
}

interface GradeAnswersRequest {
  readonly question: QuestionRef;
  readonly answers: readonly (Text | null)[];
}

function gradeWithHeartbeats(asked: Asked, request: GradeAnswersRequest) {
  return whileHeartbeating(() => gradeAnswers(asked, request));
}

/** The activity's own time-out is longer: what is not judged by then is `ungraded`, and the rest counts. */
const MOST_GRADING_MS = 20 * 60_000;
const CUSTOM_TIMEOUT_SECONDS = 600;

/**
 * Activity `conductor.train.gradeAnswers`: judges each answer, the same one once. A plan that led to none (null) is wrong,
 * and so is an answer that settles on nothing: only a plan can be `unparseable`.
 *
 * Answers that an activity of the user's judges are not judged here: its name comes back. Nor are those that rules do not
 * take for right, and a verifier is asked about: what it is asked comes back.
 */
export async function gradeAnswers(
  { store, questions }: Asked,
  request: GradeAnswersRequest,
): Promise<readonly (Judged | Grade | Verification)[] | CustomGrader> {
  const question = await questions.read(request.question);
  if (question.grader === 'custom') {
    const { activity, taskQueue, answer: right, timeoutSeconds = CUSTOM_TIMEOUT_SECONDS } = question;
    return { activity, taskQueue, right, timeoutMs: timeoutSeconds * 1000 };
  }
  const end = Date.now() + MOST_GRADING_MS;
  const known = new Map<string, Judged | Grade | Verification>();
  const judged: (Judged | Grade | Verification)[] = [];
  for (const answer of request.answers) {
    const text = answer === null ? null : await readText(store, answer);
    const found = text === null ? 'wrong' : (known.get(text) ?? (await judge(text)));
    if (text !== null) known.set(text, found);
    judged.push(found);
  }
  return judged;

  async function judge(text: string): Promise<Judged | Grade | Verification> {
    const judged = await gradeBefore(end, question, text);
    const isWrong = typeof judged === 'object' && 'verdict' in judged && judged.verdict === 'wrong';
    const isOpen = isWrong && question.grader === 'freeform' && question.verify === true;
    return (isOpen ? await verificationOf(store, question, text) : null) ?? judged;
  }
}

/** A grader that fails is asked once more. */
async function gradeBefore(end: number, question: RightAnswer, text: string): Promise<Judged | Grade> {
  let ungradedBecause = `grading timed out after ${MOST_GRADING_MS / 60_000} minutes`;
  for (let attempt = 0; attempt < 2 && Date.now() < end; attempt += 1) {
    const found = await grade(question, text);
    const { verdict } = found;
    const reason = shown(found.reason);
    if (verdict !== 'ungraded')
      return { ...found, reason, verdict: verdict === 'correct' ? verdict : 'wrong' };
    ungradedBecause = found.reason;
  }
  return { ungradedBecause };
}
