import { ActivityCancellationType, isCancellation, proxyActivities, rootCause } from '@temporalio/workflow';
import type { Text } from '../../protocol/text';
import type { AskedQuestion, CustomGrader, CustomGradeRequest, Judged } from '../contract';
import { inWindow } from '../../workflows/in-window';

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
): Promise<readonly Judged[]> {
  const { id, text: question } = asked.question;
  return inWindow(asked.answers, asked.window, (answer) =>
    answer === null ? Promise.resolve('wrong') : ask(grader, { id, question, answer, right: grader.right }),
  );
}

async function ask(grader: CustomGrader, request: CustomGradeRequest): Promise<Judged> {
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
    return { ungradedBecause: `the grader ${activity} on task queue ${taskQueue} failed: ${reason}` };
  }
}

/** Only a plan can be `unparseable`: an answer that settles on nothing is wrong. */
function readVerdict(activity: string, result: unknown): Judged {
  const said = typeof result === 'object' && result !== null && 'verdict' in result ? result.verdict : result;
  if (said === 'correct' || said === 'wrong') return said;
  if (said === 'unparseable') return 'wrong';
  const why = said === 'ungraded' ? 'could not judge it' : 'returned none of our verdicts';
  return { ungradedBecause: `the grader ${activity} ${why}` };
}
