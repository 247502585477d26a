import type { ReactElement } from 'react';
import type { Plan } from '../../../src/plan/plan';
import { describeSees } from '../../../src/trace/describe';
import { showText } from '../solve/show-text';

/** A plan as a list: each step's worker, subtask and visible steps. */
export function PlanSteps({
  plan,
  problem,
}: {
  readonly plan: Plan | null;
  readonly problem?: string | null;
}): ReactElement {
  if (plan === null) return <p className="faint words">No plan{problem ? `: ${showText(problem)}` : ''}</p>;
  if (plan.steps.length === 0) return <p className="faint">Accepts the answer</p>;
  return (
    <ol className="steps">
      {plan.steps.map(({ worker, subtask, sees }, index) => (
        <li key={index}>
          <strong>{worker}</strong> <span className="faint">{describeSees(sees)}</span>
          <p dir="auto">{showText(subtask)}</p>
        </li>
      ))}
    </ol>
  );
}
