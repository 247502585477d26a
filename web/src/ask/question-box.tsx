import type { KeyboardEvent, ReactElement, Ref } from 'react';

interface QuestionBoxProps {
  readonly label: string;
  readonly placeholder: string;
  readonly rows: number;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly onSend: () => void;
  readonly ref?: Ref<HTMLTextAreaElement>;
}

/** Input for a question. Enter sends it, Shift+Enter starts a new line. */
export function QuestionBox({
  label,
  placeholder,
  rows,
  value,
  onChange,
  onSend,
  ref,
}: QuestionBoxProps): ReactElement {
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    onSend();
  };
  return (
    <textarea
      ref={ref}
      dir="auto"
      rows={rows}
      aria-label={label}
      placeholder={placeholder}
      value={value}
      onChange={(event) => {
        onChange(event.target.value);
      }}
      onKeyDown={press}
    />
  );
}
