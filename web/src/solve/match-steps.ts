import { roundsOf } from '../../../src/trace/run-tree';
import type { Round, Solve } from '../api/types';

/** A step with its round. */
export interface PlacedStep {
  readonly round: Round;
  readonly index: number;
}

/** Steps of two solves that belong together, and by what; null where the other solve has none like it. */
export interface StepMatch {
  readonly by: 'subtask' | 'worker' | null;
  readonly one: PlacedStep | null;
  readonly other: PlacedStep | null;
}

/** Matches the steps of two solves, round by round: first those with the same subtask, then those of the same worker. */
export function matchSteps(one: Solve, other: Solve): StepMatch[] {
  const [rounds, others] = [roundsOf(one), roundsOf(other)];
  return Array.from({ length: Math.max(rounds.length, others.length) }, (_, index) =>
    matchRound(stepsOf(rounds[index]), stepsOf(others[index])),
  ).flat();
}

function stepsOf(round: Round | undefined): PlacedStep[] {
  return round === undefined ? [] : round.steps.map((_, index) => ({ round, index }));
}

const BY = { subtask: subtaskOf, worker: workerOf } as const;

function matchRound(steps: readonly PlacedStep[], others: readonly PlacedStep[]): StepMatch[] {
  const matches = new Map<PlacedStep, StepMatch>();
  const left = new Set(others);
  for (const by of ['subtask', 'worker'] as const) {
    for (const one of steps) {
      const other = [...left].find((each) => BY[by](each) === BY[by](one));
      if (matches.has(one) || other === undefined) continue;
      left.delete(other);
      matches.set(one, { by, one, other });
    }
  }
  return [
    ...steps.map((one) => matches.get(one) ?? { by: null, one, other: null }),
    ...[...left].map((other) => ({ by: null, one: null, other })),
  ];
}

export function subtaskOf({ round, index }: PlacedStep): string {
  return round.plan?.steps[index]?.subtask.trim() ?? '';
}

export function workerOf({ round, index }: PlacedStep): string {
  return round.steps[index]?.worker ?? '';
}
