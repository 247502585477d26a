import { type ReactElement, useId, useState } from 'react';
import type { Plan, Step } from '../../../src/plan/plan';
import { usePlanRules } from '../api/queries';
import type { Round } from '../api/types';
import { Problem } from '../parts/notice';
import { useShown } from './context';
import { PlanGraph } from './plan-graph';
import { addStep, changeStep, countedFromOne, removeStep, toggleSeen } from './draft';
import { useSteer } from './steer';

interface EditPlanProps {
  readonly round: Round;
  readonly plan: Plan;
  readonly onEnd: () => void;
}

/**
 * Editor for a plan before it runs: the graph shows the draft and which of its steps is edited below; the gateway's
 * message says what is wrong with it.
 */
export function EditPlan({ round, plan, onEnd }: EditPlanProps): ReactElement {
  const { solve } = useShown();
  const [draft, setDraft] = useState(plan);
  const [chosen, choose] = useState(0);
  const { mutate, isPending, error } = useSteer(round.childId ?? solve.id, solve.id);
  const { data: rules } = usePlanRules(round.childId ?? solve.id);
  const workers = rules?.workers ?? [...new Set(plan.steps.map(({ worker }) => worker))];
  const blank = draft.steps.findIndex(({ subtask }) => subtask.trim() === '');
  const toggle = (step: number, seen: number): void => {
    setDraft(toggleSeen(draft, step, seen));
  };
  const edited = draft.steps[chosen];
  return (
    <div className="editing">
      <PlanGraph plan={draft} round={round} draft={{ chosen, onChoose: choose, onToggle: toggle }} />
      {edited !== undefined && (
        <StepFields
          key={chosen}
          step={edited}
          index={chosen}
          workers={workers}
          onChange={(change) => {
            setDraft(changeStep(draft, chosen, change));
          }}
          onToggle={(seen) => {
            toggle(chosen, seen);
          }}
          onRemove={() => {
            setDraft(removeStep(draft, chosen));
            choose(Math.max(0, chosen - 1));
          }}
        />
      )}
      {blank !== -1 && (
        <p className="faint">
          <button
            type="button"
            className="quiet"
            onClick={() => {
              choose(blank);
            }}
          >
            Step {blank + 1}
          </button>{' '}
          has no subtask yet.
        </p>
      )}
      {error !== null && <Problem>The plan was refused: {error.message}</Problem>}
      <div className="tools">
        <button
          type="button"
          className="primary"
          disabled={isPending || blank !== -1}
          onClick={() => {
            mutate(
              { verb: 'edit', body: { plan: countedFromOne(draft), firstStep: 1 } },
              { onSuccess: onEnd },
            );
          }}
        >
          Run this plan
        </button>
        <button
          type="button"
          onClick={() => {
            setDraft(addStep(draft));
            choose(draft.steps.length);
          }}
        >
          Add a step
        </button>
        <button type="button" className="quiet" onClick={onEnd}>
          Discard changes
        </button>
      </div>
    </div>
  );
}

interface StepFieldsProps {
  readonly step: Step;
  readonly index: number;
  readonly workers: readonly string[];
  readonly onChange: (change: Partial<Step>) => void;
  readonly onToggle: (seen: number) => void;
  readonly onRemove: () => void;
}

function StepFields({ step, index, workers, onChange, onToggle, onRemove }: StepFieldsProps): ReactElement {
  const id = useId();
  return (
    <section className="step-fields" aria-label={`Edit step ${index + 1}`}>
      <div className="line">
        <label htmlFor={`${id}-worker`}>Step {index + 1}</label>
        <select
          id={`${id}-worker`}
          value={step.worker}
          onChange={(event) => {
            onChange({ worker: event.target.value });
          }}
        >
          {workers.map((worker) => (
            <option key={worker}>{worker}</option>
          ))}
        </select>
        <button type="button" className="quiet" aria-label={`Remove step ${index + 1}`} onClick={onRemove}>
          Remove
        </button>
      </div>
      <textarea
        dir="auto"
        rows={3}
        aria-label={`Subtask of step ${index + 1}`}
        value={step.subtask}
        onChange={(event) => {
          onChange({ subtask: event.target.value });
        }}
      />
      {index > 0 && (
        <fieldset>
          <legend>Sees the output of</legend>
          {Array.from({ length: index }, (_, seen) => (
            <label key={seen}>
              <input
                type="checkbox"
                checked={step.sees.includes(seen)}
                onChange={() => {
                  onToggle(seen);
                }}
              />{' '}
              step {seen + 1}
            </label>
          ))}
        </fieldset>
      )}
    </section>
  );
}
