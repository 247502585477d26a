import { ActivityCancellationType, isCancellation, log, proxyActivities } from '@temporalio/workflow';
import type { Verdict } from '../../grading/grade';
import type { Text } from '../../protocol/text';
import type { AskedQuestion, CustomGrader, CustomGradeRequest } from '../contract';
import { inWindow } from './in-window';

const ATTEMPTS = 3;

/**
 * Has an activity of the user's judge answers, each by itself. It returns a verdict, alone or as `verdict` of an object;
 * where it fails for good, or returns anything else, the answer is `ungraded`. A plan that led to no answer is wrong.
 */
export function askGrader(
  grader: CustomGrader,
  asked: {
    readonly question: AskedQuestion;
    readonly answers: readonly (Text | null)[];
    readonly window: number;
  },
): Promise<readonly Verdict[]> {
  const { id, text: question } = asked.question;
  return inWindow(asked.answers, asked.window, (answer) =>
    answer === null ? Promise.resolve('wrong') : ask(grader, { id, question, answer, right: grader.right }),
  );
}

async function ask(grader: CustomGrader, request: CustomGradeRequest): Promise<Verdict> {
  const { activity, taskQueue, timeoutMs } = grader;
  const activities = proxyActivities<Record<string, (request: CustomGradeRequest) => Promise<unknown>>>({
    taskQueue,
    scheduleToCloseTimeout: timeoutMs,
    cancellationType: ActivityCancellationType.TRY_CANCEL,
    retry: { maximumAttempts: ATTEMPTS },
    summary: `grade an answer · ${activity}`,
  });
  try {
    return readVerdict(await activities[activity]?.(request));
  } catch (error) {
    if (isCancellation(error)) throw error;
    log.warn('a grader failed, and an answer is ungraded', {
      activity,
      taskQueue,
      question: request.id,
      error,
    });
    return 'ungraded';
  }
}

/** Only a plan can be `unparseable`: an answer that settles on nothing is wrong. */
function readVerdict(result: unknown): Verdict {
  const said = typeof result === 'object' && result !== null && 'verdict' in result ? result.verdict : result;
  if (said === 'correct' || said === 'wrong') return said;
  return said === 'unparseable' ? 'wrong' : 'ungraded';
}
