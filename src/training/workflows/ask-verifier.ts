import type { ModelCard } from '../../protocol/cards';
import { READ_TEXT } from '../../protocol/names';
import type { Text } from '../../protocol/text';
import { storeActivities } from '../../workflows/activities';
import type { RunContext } from '../../workflows/run-context';
import { lastOutputOf, runPlan } from '../../workflows/run-plan';
import type { Judged, Verification } from '../../evaluation/contract';
import { lastLineOf, planToJudge } from '../../evaluation/judging';

/**
 * Has a model from outside the pool judge an answer, as the one step of a plan of its own: its call is reserved, retried,
 * kept and booked as every other one, and counted in the limits of the group. Where it fails, or says neither word, the
 * answer is `ungraded`.
 *
 * @param context of a run that knows no worker but the verifier
 */
export async function askVerifier(
  context: Omit<RunContext, 'question'>,
  verifier: ModelCard,
  { prompt, correct, wrong }: Verification,
): Promise<Judged> {
  const asked = {
    ...context,
    question: prompt,
    run: { ...context.run, workers: [verifier], queuePerProvider: false },
  };
  const { recorder, round, depth } = context;
  const plan = planToJudge(verifier.id);
  recorder.record({ kind: 'plan-asked', round, depth });
  recorder.record({ kind: 'planned', round, plan, degraded: false });
  await runPlan(asked, plan);
  const problem = recorder.trace.calls.at(-1)?.error;
  const output = lastOutputOf(asked);
  if (problem || output === null) {
    return { ungradedBecause: `the verifier failed: ${problem?.message ?? 'it gave no verdict'}` };
  }
  const said = lastLineOf(await readWhole(output));
  if (said === correct) return 'correct';
  if (said === wrong) return 'wrong';
  return { ungradedBecause: 'the verifier said neither that the answer is correct nor that it is wrong' };
}

async function readWhole(text: Text): Promise<string> {
  return typeof text === 'string' ? text : storeActivities('read a verdict')[READ_TEXT](text);
}
