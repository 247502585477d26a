import { type ReactElement, useId } from 'react';

interface NumberFieldProps {
  readonly label: string;
  readonly step: string;
  /** Placeholder for an empty field. */
  readonly nothing: string;
  /** Text as typed. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly className?: string;
}

/** Returns the text of a limit in its field; a field without a limit is empty. */
export const textOfLimit = (limit: number | null): string => (limit === null ? '' : String(limit));

/** Returns the limit that was typed into a field; null if it is empty. */
export const limitIn = (text: string): number | null => (text.trim() === '' ? null : Number(text));

/** Field for a number of at least 0, or none. */
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
