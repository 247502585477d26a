import { type ReactElement, useId } from 'react';

interface NumberFieldProps {
  readonly label: string;
  /** Placeholder for an empty field. */
  readonly nothing: string;
  /** Text as typed. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}

/** Field for a number, or none. A browser's own field of numbers would hand over an empty text for one that is wrong. */
export function NumberField({ label, nothing, value, onChange, className }: NumberFieldProps): ReactElement {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={className}
        type="text"
        inputMode="decimal"
        placeholder={nothing}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      />
    </>
  );
}
