import type { ReactElement } from 'react';
import type { Plan, Step } from '../../../src/plan/plan';
import { describeSees } from '../../../src/trace/describe';
import { toolCallsOf } from '../../../src/trace/tool-calls';
import type { Round } from '../api/types';
import { useNow } from '../parts/now';
import { StateMark } from '../parts/state-mark';
import { isSamePlace, useShown } from './context';
import { markOf } from './mark';
import { showText } from './show-text';
import { partsOfRound, type TimedPart, timedPartsOf, type TimeScale, timeScaleOf } from './spans';
import { ToolMark } from './tool-calls';
import { Track } from './track';

interface PlanListProps {
  readonly plan: Plan;
  readonly round: Round;
}

/** A plan and its time line in one list: how the plan came about, then each step, with bars for when they went on. */
export function PlanList({ plan, round }: PlanListProps): ReactElement {
  const { solve } = useShown();
  const clock = useNow(1000, solve.status === 'running');
  const scale = timeScaleOf(solve, timedPartsOf(solve), clock);
  const parts = partsOfRound(solve, round);
  return (
    <ol className="plan-list">
      {parts
        .filter(({ place }) => place === null)
        .map((part) => (
          <li key={part.key} className="plan-row">
            <StateMark state={part.state} />
            <span className="worker">{part.name}</span>
            <span className="task" />
            <span className="sees" />
            <Track part={part} scale={scale} />
          </li>
        ))}
      {plan.steps.map((step, index) => (
        <li key={index}>
          <StepRow
            step={step}
            index={index}
            round={round}
            part={parts.find(({ place }) => place?.step === index) ?? null}
            scale={scale}
          />
        </li>
      ))}
    </ol>
  );
}

interface StepRowProps {
  readonly step: Step;
  readonly index: number;
  readonly round: Round;
  readonly part: TimedPart | null;
  readonly scale: TimeScale;
}

function StepRow({ step, index, round, part, scale }: StepRowProps): ReactElement {
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
      <span className="sees">
        {describeSees(step.sees)} <ToolMark count={toolCallsOf(round.steps[index] ?? {}).length} />
      </span>
      <Track part={part} scale={scale} />
    </button>
  );
}
