import { type KeyboardEvent, type ReactElement, type ReactNode, useId, useState } from 'react';

interface TabsProps {
  readonly label: string;
  /** Content by name, in the order of the tabs; only that of the chosen one renders. */
  readonly tabs: readonly (readonly [name: string, content: ReactNode])[];
}

/** Row of tabs, of which one is shown: arrow keys choose. */
export function Tabs({ label, tabs }: TabsProps): ReactElement {
  const id = useId();
  const [chosen, choose] = useState(0);
  const press = (event: KeyboardEvent<HTMLDivElement>): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by === undefined) return;
    const next = (chosen + by + tabs.length) % tabs.length;
    choose(next);
    event.currentTarget.querySelectorAll<HTMLElement>('[role=tab]')[next]?.focus();
  };
  return (
    <>
      <div className="tabs" role="tablist" aria-label={label} onKeyDown={press}>
        {tabs.map(([name], index) => (
          <button
            key={name}
            id={`${id}-${index}`}
            type="button"
            role="tab"
            aria-selected={index === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={index === chosen ? 0 : -1}
            onClick={() => {
              choose(index);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen}`} tabIndex={0}>
        {tabs[chosen]?.[1]}
      </div>
    </>
  );
}
