import { type ReactElement, type ReactNode, useId } from 'react';
import type { Me } from '../api/types';
import { LIMIT_LABELS } from '../parts/limit';
import { NumberField } from '../parts/number-field';
import { type Approval, type Choices, describeChoices } from './choices';

interface OptionsProps {
  readonly me: Me;
  readonly choices: Choices;
  readonly onChange: (choices: Choices) => void;
  /** Shown at the end of the line. */
  readonly children: ReactNode;
}

/** Settings of a question, folded into one line that describes them. */
export function AskOptions({ me, choices, onChange, children }: OptionsProps): ReactElement {
  const change = (part: Partial<Choices>): void => {
    onChange({ ...choices, ...part });
  };
  const toggle = (id: string): void => {
    const { without } = choices;
    change({ without: without.includes(id) ? without.filter((each) => each !== id) : [...without, id] });
  };
  return (
    <div className="options">
      <details>
        <summary>{describeChoices(choices, me)}</summary>
        <div className="fields">
          <div className="field">
            <NumberField
              label={LIMIT_LABELS.costUsd}
              nothing="none"
              value={choices.costUsd}
              onChange={(costUsd) => {
                change({ costUsd });
              }}
            />
          </div>
          <div className="field">
            <NumberField
              label={LIMIT_LABELS.steps}
              nothing="none"
              value={choices.steps}
              onChange={(steps) => {
                change({ steps });
              }}
            />
          </div>
          <div className="field">
            <NumberField
              label={LIMIT_LABELS.depth}
              nothing="none"
              value={choices.depth}
              onChange={(depth) => {
                change({ depth });
              }}
            />
          </div>
          <ApprovalField
            value={choices.approval}
            onChange={(approval) => {
              change({ approval });
            }}
          />
        </div>
        <fieldset>
          <legend>Workers that may be asked</legend>
          {me.workers.map(({ id, model }) => (
            <label key={id} title={model}>
              <input
                type="checkbox"
                checked={!choices.without.includes(id)}
                onChange={() => {
                  toggle(id);
                }}
              />{' '}
              {id}
            </label>
          ))}
        </fieldset>
      </details>
      {children}
    </div>
  );
}

interface FieldProps<Value> {
  readonly value: Value;
  readonly onChange: (value: Value) => void;
}

function ApprovalField({ value, onChange }: FieldProps<Approval>): ReactElement {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>Approval</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          onChange(event.target.value as Approval);
        }}
      >
        <option value="none">none</option>
        <option value="plan">of the first plan</option>
        <option value="all">of every plan</option>
      </select>
    </div>
  );
}
