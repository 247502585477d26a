import type { ReactElement } from 'react';
import { joinFacts, stepStateOf } from '../../../src/trace/describe';
import type { Round } from '../api/types';
import { StateMark } from '../parts/state-mark';
import { showText } from './show-text';

/** Why steps of a round failed, in full, below a plan that has no room for it; steps with one cause stand together. */
export function Failures({ round: { steps } }: { readonly round: Round }): ReactElement | null {
  const causes = new Map<string, string[]>();
  for (const step of steps) {
    if (step.error === null || stepStateOf(step) !== 'failed') continue;
    const { message } = step.error;
    causes.set(message, [...(causes.get(message) ?? []), `step ${step.index + 1}`]);
  }
  if (causes.size === 0) return null;
  return (
    <ul className="failures" aria-label="Why steps failed">
      {[...causes].map(([cause, failed]) => (
        <li key={cause}>
          <StateMark state="failed" /> <strong>{joinFacts(...failed)}</strong>{' '}
          <span dir="auto">{showText(cause)}</span>
        </li>
      ))}
    </ul>
  );
}
