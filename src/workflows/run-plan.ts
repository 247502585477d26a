import type { Plan } from '../plan/plan';
import type { VisibleStep } from '../protocol/activities';
import type { Text } from '../protocol/text';
import type { RunContext } from './run-context';
import { runStep } from './run-step';

/**
 * Runs a plan and returns its answer: the last output that is not empty, or null when there is none.
 *
 * Laws: a step starts as soon as everything that it may see is done, and never before; it is shown exactly those
 * outputs; a step that fails for good leaves an empty output and stops nobody else.
 */
export async function runPlan(context: RunContext, round: number, plan: Plan): Promise<Text | null> {
  const finished: Promise<void>[] = [];
  for (const [index, step] of plan.steps.entries()) {
    const needed = step.sees.flatMap((earlier) => finished[earlier] ?? []);
    finished.push(
      Promise.all(needed).then(() =>
        runStep(context, { round, step: index, plan, sees: visibleSteps(context, round, plan, step.sees) }),
      ),
    );
  }
  // Settled, not just failed: a cancelled run waits until every call of it is closed.
  const outcomes = await Promise.allSettled(finished);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;

  const outputs = stepsOf(context, round).map((step) => step.output);
  return outputs.findLast((output) => output !== null && !isBlank(output)) ?? null;
}

function visibleSteps(
  context: RunContext,
  round: number,
  plan: Plan,
  sees: readonly number[],
): VisibleStep[] {
  const steps = stepsOf(context, round);
  return sees.flatMap((index) => {
    const [done, planned] = [steps[index], plan.steps[index]];
    if (done === undefined || planned === undefined) return [];
    return [{ step: index, worker: done.worker, subtask: planned.subtask, output: done.output ?? '' }];
  });
}

function stepsOf({ recorder }: RunContext, round: number): (typeof recorder.trace.rounds)[number]['steps'] {
  return recorder.trace.rounds.find((each) => each.round === round)?.steps ?? [];
}

function isBlank(output: Text): boolean {
  return typeof output === 'string' && output.trim() === '';
}
