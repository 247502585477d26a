import type { ReactElement } from 'react';
import { describeSteered } from '../../../src/trace/steered';
import { Age } from '../parts/age';
import { useNow } from '../parts/now';
import { useShown } from './context';

const MINUTE_MS = 60_000;

/** What people told the run: hints, limits and verdicts on its plans, with who sent them. */
export function Told(): ReactElement | null {
  const { solve } = useShown();
  const now = useNow(MINUTE_MS);
  if (solve.steered === undefined) return null;
  return (
    <section className="told" aria-label="What it was told">
      <h2>What it was told</h2>
      <ol>
        {solve.steered.map((message, index) => (
          <li key={index}>
            <span dir="auto">{describeSteered(message)}</span>{' '}
            <span className="faint">
              <Age at={message.at} now={now} /> ago
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
