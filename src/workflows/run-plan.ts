import { type Plan, stepsSharingPrompts } from '../plan/plan';
import type { VisibleStep } from '../protocol/activity-contract';
import type { StepTrace } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { ownRound } from '../trace/run-tree';
import type { RunContext } from './run-context';
import { runStep } from './run-step';

/**
 * Runs a plan to its end.
 *
 * Laws: a step starts as soon as everything that it may see is done, and never before; it is shown exactly those
 * outputs; a step that fails for good leaves an empty output and stops no other step.
 * @param kept outputs of an earlier run, by step; null for a step that must run
 */
export async function runPlan(
  context: RunContext,
  plan: Plan,
  kept: readonly (Text | null)[] = [],
): Promise<void> {
  const sharing = stepsSharingPrompts(plan);
  const finished: Promise<void>[] = [];
  for (const [index, step] of plan.steps.entries()) {
    const output = kept[index] ?? null;
    const answers = index === plan.steps.length - 1;
    if (output !== null) {
      finished.push(Promise.resolve());
      continue;
    }
    const needed = step.sees.flatMap((earlier) => finished[earlier] ?? []);
    const sharesPrompt = sharing.has(index);
    const run = (): Promise<void> => {
      const sees = visibleSteps(context, plan, step.sees);
      return runStep(context, { step: index, planned: step, sees, sharesPrompt, answers });
    };
    finished.push(needed.length === 0 ? run() : Promise.all(needed).then(run));
  }
  // Waits for all steps, not only for the first failure: a cancelled run ends when every call of it is closed.
  const outcomes = await Promise.allSettled(finished);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

/** Returns the plan's last output that is not empty, or null. A correction counts only if its last step has one. */
export function answerOf(context: RunContext): Text | null {
  const steps = stepsOfRun(context);
  const outputs = steps.map((step) => step.output);
  // Only the last output was checked against the schema.
  if (context.answerSchema !== undefined)
    return steps.at(-1)?.error === null ? (outputs.at(-1) ?? null) : null;
  const candidates = context.round === 0 ? outputs : outputs.slice(-1);
  return candidates.findLast((output) => output !== null && !isBlank(output)) ?? null;
}

/** Returns the output of the last step, even an empty one: rollouts are judged by it (paper section 3.1). */
export function lastOutputOf(context: RunContext): Text | null {
  return stepsOfRun(context).at(-1)?.output ?? null;
}

function visibleSteps(context: RunContext, plan: Plan, sees: readonly number[]): VisibleStep[] {
  const steps = stepsOfRun(context);
  return sees.flatMap((index) => {
    const [done, planned] = [steps[index], plan.steps[index]];
    if (done === undefined || planned === undefined) return [];
    return [{ step: index, worker: done.worker, subtask: planned.subtask, output: done.output ?? '' }];
  });
}

function stepsOfRun({ recorder, round }: RunContext): readonly StepTrace[] {
  return ownRound(recorder.trace, round)?.steps ?? [];
}

function isBlank(output: Text): boolean {
  return typeof output === 'string' && output.trim() === '';
}
