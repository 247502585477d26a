import type { ReactElement } from 'react';
import type { Plan, Step } from '../../../src/plan/plan';
import { describeSees } from '../../../src/trace/describe';
import { toolCallsOf } from '../../../src/trace/tool-calls';
import type { Round } from '../api/types';
import { StateMark } from '../parts/state-mark';
import { isSamePlace, useShown } from './context';
import { showText } from './show-text';
import { markOf } from './step-node';
import { ToolMark } from './tool-calls';

interface PlanListProps {
  readonly plan: Plan;
  readonly round: Round;
}

/** A plan as a list of its steps, for one that is too large to be read as a graph. */
export function PlanList({ plan, round }: PlanListProps): ReactElement {
  return (
    <ol className="plan-list">
      {plan.steps.map((step, index) => (
        <li key={index}>
          <StepRow step={step} index={index} round={round} />
        </li>
      ))}
    </ol>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly index: number;
  readonly round: Round;
}

function StepRow({ step, index, round }: StepRowProps): ReactElement {
  const { solve, selected, select } = useShown();
  const place = { childId: round.childId, round: round.round, step: index };
  const isSelected = isSamePlace(selected, place);
  return (
    <button
      type="button"
      className="plan-row"
      aria-pressed={isSelected}
      onClick={() => {
        select(isSelected ? null : place);
      }}
    >
      <StateMark state={markOf(solve, round, index)} />
      <span className="worker">
        {index + 1} {round.steps[index]?.worker ?? step.worker}
      </span>
      <span className="task" dir="auto">
        {showText(step.subtask)}
      </span>
      <span className="faint">
        {describeSees(step.sees)} <ToolMark count={toolCallsOf(round.steps[index] ?? {}).length} />
      </span>
    </button>
  );
}
