import type { Plan, Step } from '../../../src/plan/plan';

// Edits of a plan by a person; the gateway checks whether the result is valid.

export function changeStep({ steps }: Plan, index: number, change: Partial<Step>): Plan {
  return { steps: steps.map((step, each) => (each === index ? { ...step, ...change } : step)) };
}

/** Counts steps from 1, as people do, so that error messages match what is shown. */
export function countedFromOne({ steps }: Plan): Plan {
  return { steps: steps.map((step) => ({ ...step, sees: step.sees.map((seen) => seen + 1) })) };
}

/** Lets a step see an earlier one, or stops it from seeing it. */
export function toggleSeen(plan: Plan, index: number, seen: number): Plan {
  const before = plan.steps[index]?.sees ?? [];
  const sees = before.includes(seen)
    ? before.filter((each) => each !== seen)
    : [...before, seen].sort((a, b) => a - b);
  return changeStep(plan, index, { sees });
}

/** Adds a step with the last step's worker, which sees the last step. */
export function addStep({ steps }: Plan): Plan {
  const last = steps.length - 1;
  const worker = steps[last]?.worker ?? '';
  return { steps: [...steps, { worker, subtask: '', sees: last < 0 ? [] : [last] }] };
}

/** Removes a step; later ones move up, and none sees it any more. */
export function removeStep({ steps }: Plan, index: number): Plan {
  const moved = (seen: number): number => (seen > index ? seen - 1 : seen);
  const rest = steps.filter((_, each) => each !== index);
  return {
    steps: rest.map((step) => ({ ...step, sees: step.sees.filter((seen) => seen !== index).map(moved) })),
  };
}
