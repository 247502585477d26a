import { type ReactElement, type ReactNode, useState } from 'react';

interface FoldProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Section that is closed at first. Its content renders, and is read from the gateway, only once it is opened. */
export function Fold({ summary, className, children }: FoldProps): ReactElement {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      className={className}
      onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}
    >
      <summary>{summary}</summary>
      {isOpen && children}
    </details>
  );
}
