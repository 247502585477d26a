import type { ReactElement } from 'react';

interface ChoiceProps<Name extends string> {
  readonly label: string;
  readonly options: readonly (readonly [name: Name, words: string])[];
  readonly chosen: Name | null;
  readonly onChoose: (name: Name) => void;
}

/** Row of buttons to choose one of a few options. */
export function Choice<Name extends string>({
  label,
  options,
  chosen,
  onChoose,
}: ChoiceProps<Name>): ReactElement {
  return (
    <div className="choice" role="group" aria-label={label}>
      {options.map(([name, words]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === chosen}
          onClick={() => {
            onChoose(name);
          }}
        >
          {words}
        </button>
      ))}
    </div>
  );
}
