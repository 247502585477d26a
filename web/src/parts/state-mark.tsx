import type { ReactElement } from 'react';

export type MarkedState = 'waiting' | 'running' | 'done' | 'failed' | 'cancelled' | 'asks';

/** Shapes that tell states apart without colour. */
const MARKS: Readonly<Record<MarkedState, readonly [shape: string, word: string]>> = {
  waiting: ['·', 'not started'],
  running: ['◐', 'running'],
  done: ['✓', 'done'],
  failed: ['✕', 'failed'],
  cancelled: ['⊘', 'cancelled'],
  asks: ['‖', 'waits for you'],
};

export function StateMark({ state }: { readonly state: MarkedState }): ReactElement {
  const [shape, word] = MARKS[state];
  return (
    <span className={`mark mark-${state}`} role="img" aria-label={word} title={word}>
      {shape}
    </span>
  );
}

export function wordOf(state: MarkedState): string {
  return MARKS[state][1];
}

export function stateOfRun(
  status: 'running' | 'completed' | 'failed' | 'cancelled',
  waitsFor: string | null | undefined,
): MarkedState {
  if (status === 'running') return waitsFor === 'approval' ? 'asks' : 'running';
  return status === 'completed' ? 'done' : status;
}
