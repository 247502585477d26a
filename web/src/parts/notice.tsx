import type { ReactElement, ReactNode } from 'react';

/** Notice that says what went wrong and what to do. */
export function Problem({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <p className="problem" role="alert">
      {children}
    </p>
  );
}

/** Placeholder for missing content. */
export function Empty({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <div className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
    </div>
  );
}
