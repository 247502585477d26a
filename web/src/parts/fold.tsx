import { type ReactElement, type ReactNode, useState } from 'react';

interface FoldProps {
  readonly summary: ReactNode;
  readonly className?: string;
  readonly children: ReactNode;
}

/** Closed at first. What is in it is drawn, and read from the gateway, only once someone opens it. */
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
