import { ActivityCancellationType, isCancellation, proxyActivities, rootCause } from '@temporalio/workflow';
import type { Grade } from '../../grading/verdict';
import type { Text } from '../../protocol/text';
import { inWindow } from '../../workflows/in-window';
import {
  type AskedQuestion,
  type CustomGrader,
  type CustomGradeRequest,
  NO_ANSWER,
  type QuestionRef,
  type RuleGrade,
} from '../contract';
import { GRADE_ANSWERS } from '../names';
import { gradingActivities } from './activities';

const ATTEMPTS = 3;

export interface Grading {
  readonly ref: QuestionRef;
  readonly question: AskedQuestion;
  /** Answers that a grader of the user's judges together. */
  readonly window: number;
}

/**
 * Grades answers by the question's rule, or by the user's own grader.
 *
 * @param onTheWay judged behind them where the first answer is wrong and a rule judges it
 */
export async function gradeAnswers(
  { ref, question, window }: Grading,
  answers: readonly (Text | null)[],
  onTheWay: readonly (Text | null)[] = [],
): Promise<readonly RuleGrade[]> {
  const grade = gradingActivities(`grade ${answers.length} answers`)[GRADE_ANSWERS];
  const graded = await grade({ question: ref, answers, onTheWay });
  if (!('activity' in graded)) return graded;
  const { id, text } = question;
  return inWindow(answers, window, (answer) =>
    answer === null
      ? Promise.resolve(NO_ANSWER)
      : askGrader(graded, { id, question: text, answer, right: graded.right }),
  );
}

/**
 * Has an activity of the user's judge an answer. It returns a verdict, alone or as `verdict` of an object; where it fails
 * for good, or returns anything else, the answer is `ungraded`.
 */
async function askGrader(grader: CustomGrader, request: CustomGradeRequest): Promise<Grade> {
  const { activity, taskQueue, timeoutMs } = grader;
  const activities = proxyActivities<Record<string, (request: CustomGradeRequest) => Promise<unknown>>>({
    taskQueue,
    scheduleToCloseTimeout: timeoutMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: ATTEMPTS },
    summary: `grade an answer · ${activity}`,
  });
  try {
    return readVerdict(activity, await activities[activity]?.(request));
  } catch (error) {
    if (isCancellation(error)) throw error;
    const reason = rootCause(error) ?? 'no reason was given';
    return custom('ungraded', `the grader ${activity} on task queue ${taskQueue} failed: ${reason}`);
  }
}

/** Only a plan can be `unparseable`: an answer that settles on nothing is wrong. */
function readVerdict(activity: string, result: unknown): Grade {
  const said = typeof result === 'object' && result !== null && 'verdict' in result ? result.verdict : result;
  if (said === 'correct' || said === 'wrong') return custom(said, `${activity} says so`);
  if (said === 'unparseable') return custom('wrong', `${activity} says so`);
  const why = said === 'ungraded' ? 'could not judge it' : 'returned none of our verdicts';
  return custom('ungraded', `the grader ${activity} ${why}`);
}

function custom(verdict: Grade['verdict'], reason: string): Grade {
  return { verdict, extracted: null, reason, graderVersion: 'custom' };
}
