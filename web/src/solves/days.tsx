import type { ReactElement } from 'react';
import type { Chosen } from './chosen';

interface DaysProps {
  readonly chosen: Chosen;
  readonly onChoose: (change: Partial<Chosen>) => void;
}

/** Fields for the first and the last day on which solves started. */
export function Days({ chosen: { from, to }, onChoose }: DaysProps): ReactElement {
  return (
    <div className="days">
      <label>
        From
        <input
          type="date"
          aria-label="Started from"
          max={to}
          value={from}
          onChange={(event) => {
            onChoose({ from: event.target.value });
          }}
        />
      </label>
      <label>
        to
        <input
          type="date"
          aria-label="Started to"
          min={from}
          value={to}
          onChange={(event) => {
            onChoose({ to: event.target.value });
          }}
        />
      </label>
    </div>
  );
}
