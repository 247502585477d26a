import { workflowInfo } from '@temporalio/workflow';
import type { Plan } from '../plan/plan';
import type { Text } from '../protocol/text';
import { reviewed, revisionIn } from '../trace/child-events';
import { isOwnCancellation } from './failure';
import type { Share } from './limits';
import { runChild } from './run-child';
import { mayReview, type RunContext } from './run-context';

/**
 * Has the Conductor read the plan and its answer once more, one level deeper, and returns the answer that stands.
 *
 * The child accepts it by an empty plan, or runs a plan that corrects it, whose answer it has reviewed in turn: so
 * reviews chain as far as the depth allows, and nobody reviews twice. Whatever else becomes of it, an unreadable reply, a
 * refusal, a limit, a kill, leaves the answer at hand as it is. (Paper section 3.2; where the paper leaves open what an
 * unreadable review does, the earlier answer is kept.)
 */
export async function reviewAnswer(context: RunContext, plan: Plan, answer: Text): Promise<Text> {
  const share = mayReview(context) ? await shareUnlessSpent(context) : null;
  if (share === null) return answer;
  const { recorder, round, depth, question, background } = context;
  const childId = `${workflowInfo().workflowId}-review`;
  recorder.record({ kind: 'review-started', round: round + 1, depth: depth + 1, childId });
  const outcome = await runChild(context, share, {
    childId,
    question,
    round: round + 1,
    background: [...background.filter(({ subtask }) => subtask !== null), { subtask: null, output: answer }],
    review: { plan, answer },
    summary: `review of round ${round + 1}`,
  });
  const revision = revisionIn(outcome, round + 1);
  recorder.record(reviewed(round, revision));
  return revision ?? answer;
}

/** null where nothing is left for a review: the run says which limit it was, and has its answer. */
async function shareUnlessSpent({ limits }: RunContext): Promise<Share | null> {
  try {
    return await limits.share(1);
  } catch (error) {
    if (isOwnCancellation(error)) throw error;
    return null;
  }
}
