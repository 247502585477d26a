import type { ReactElement } from 'react';
import { describeAge } from '../../../src/trace/describe';
import { describeSteered } from '../../../src/trace/steered';
import { useShown } from './context';

/** What people told the run: hints, limits and verdicts on its plans, with who sent them. */
export function Told(): ReactElement | null {
  const { solve } = useShown();
  if (solve.steered === undefined) return null;
  return (
    <section className="told" aria-label="What it was told">
      <h2>What it was told</h2>
      <ol>
        {solve.steered.map((message, index) => (
          <li key={index}>
            <span dir="auto">{describeSteered(message)}</span>{' '}
            <span className="faint">
              <time dateTime={message.at} title={new Date(message.at).toLocaleString()}>
                {describeMoment(message.at, solve.startedAt)}
              </time>
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** `after 8 s`, from the start of the run; empty for a run of an older version. */
function describeMoment(at: string, startedAt: string | undefined): string {
  return startedAt === undefined ? '' : `after ${describeAge(Date.parse(at) - Date.parse(startedAt))}`;
}
