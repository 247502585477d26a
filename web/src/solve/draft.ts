import type { Plan, Step } from '../../../src/plan/plan';

// Changes of a plan that a person makes; whether it is one that may run, the gateway says.

export function changeStep({ steps }: Plan, index: number, change: Partial<Step>): Plan {
  return { steps: steps.map((step, each) => (each === index ? { ...step, ...change } : step)) };
}

/** As people count steps, so that what a refusal says is what they see. */
export function countedFromOne({ steps }: Plan): Plan {
  return { steps: steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen + 1) })) };
}

/** Has a step see an earlier one, or not see it any more. */
export function toggleSeen(plan: Plan, index: number, seen: number): Plan {
  const before = plan.steps[index]?.sees ?? [];
  const sees = before.includes(seen)
    ? before.filter((each) => each !== seen)
    : [...before, seen].sort((a, b) => a - b);
  return changeStep(plan, index, { sees });
}

/** One more step, by the last one's worker, who sees what came before. */
export function addStep({ steps }: Plan): Plan {
  const last = steps.length - 1;
  const worker = steps[last]?.worker ?? '';
  return { steps: [...steps, { worker, subtask: '', sees: last < 0 ? [] : [last] }] };
}

/** Leaves a step out; those behind it move up, and none sees it any more. */
export function removeStep({ steps }: Plan, index: number): Plan {
  const moved = (seen: number): number => (seen > index ? seen - 1 : seen);
  const rest = steps.filter((_, each) => each !== index);
  return {
    steps: rest.map((step) => ({ ...step, sees: step.sees.filter((seen) => seen !== index).map(moved) })),
  };
}
