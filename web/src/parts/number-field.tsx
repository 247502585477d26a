import { type ReactElement, useId } from 'react';

interface NumberFieldProps {
  readonly label: string;
  readonly step: string;
  /** Stands where the field is empty. */
  readonly nothing: string;
  /** As it is typed. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}

/** A number from 0, or none. */
export function NumberField({
  label,
  step,
  nothing,
  value,
  onChange,
  className,
}: NumberFieldProps): ReactElement {
  const id = useId();
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={className}
        type="number"
        min="0"
        step={step}
        placeholder={nothing}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      />
    </>
  );
}
