import { type KeyboardEvent, type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { useSolves } from '../api/queries';
import type { ListedSolve, Me } from '../api/types';
import { Link } from '../parts/link';
import { Empty, Problem } from '../parts/notice';
import { useNow } from '../parts/now';
import { goTo, pathOfSolve } from '../route';
import { EarlierSolves } from './earlier-solves';
import { ROW_PX, SolveRow } from './row';
import { useRowsInSight } from './rows-in-sight';

/** Rows before the last known solve at which earlier ones are read. */
const AHEAD = 20;

/** Live list of solves: `/` filters, arrow keys move, Enter opens. Renders only the rows in sight. */
export function Solves({ me }: { readonly me: Me }): ReactElement {
  const { data, error } = useSolves();
  const now = useNow(1000);
  const filter = useRef<HTMLInputElement>(null);
  const [words, setWords] = useState('');
  const [active, setActive] = useState(0);
  const shown = useMemo(() => matching(data?.runs ?? [], words), [data, words]);
  const { box, first, last, reveal } = useRowsInSight(shown.length, ROW_PX);
  useSlash(() => filter.current?.focus());
  const isThere = shown.length > 0;
  useEffect(() => {
    // Focuses the list for the arrow keys, unless something else has focus.
    if (isThere && document.activeElement === document.body) box.current?.focus({ preventScroll: true });
  }, [isThere, box]);

  const move = (to: number): void => {
    const next = Math.max(0, Math.min(shown.length - 1, to));
    setActive(next);
    reveal(next);
  };
  const press = (event: KeyboardEvent): void => {
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -Infinity,
      End: Infinity,
    };
    const by = steps[event.key];
    const open = shown[active];
    if (by !== undefined) move(active + by);
    else if (event.key === 'Enter' && open !== undefined) goTo(pathOfSolve(open.id));
    else if (event.key === 'Escape') setWords('');
    else return;
    event.preventDefault();
  };
  return (
    <main className="place solves">
      <div className="list-head">
        <h1>Solves</h1>
        <input
          ref={filter}
          type="search"
          aria-label="Filter solves"
          placeholder="Filter by words, state or id   /"
          value={words}
          onChange={(event) => {
            setWords(event.target.value);
            setActive(0);
          }}
          onKeyDown={press}
        />
        <span className="count">
          {data !== undefined && describeCount(shown.length, data.runs.length, data.unlisted)}
        </span>
        {data !== undefined && (
          <EarlierSolves list={data} isFiltered={words !== ''} isNear={last + AHEAD > shown.length} />
        )}
      </div>
      {error !== null && data === undefined && <Problem>The solves cannot be read: {error.message}</Problem>}
      {data !== undefined && shown.length === 0 && <NoSolves isFiltered={data.runs.length > 0} />}
      <div
        ref={box}
        className="rows"
        role="listbox"
        aria-label="Solves"
        aria-activedescendant={shown[active] && `solve-${active}`}
        tabIndex={0}
        onKeyDown={press}
        hidden={shown.length === 0}
      >
        <div style={{ height: shown.length * ROW_PX, position: 'relative' }} role="presentation">
          {shown.slice(first, last).map((solve, index) => (
            <SolveRow
              key={solve.id}
              solve={solve}
              me={me}
              now={now}
              index={first + index}
              count={shown.length}
              isActive={first + index === active}
            />
          ))}
        </div>
      </div>
    </main>
  );
}

function NoSolves({ isFiltered }: { readonly isFiltered: boolean }): ReactElement {
  if (isFiltered) return <Empty title="No solve matches">Try other words, or press Escape to see all.</Empty>;
  return (
    <Empty title="No solves yet">
      <Link href="/">Ask the first question</Link>, or send one with an OpenAI or Anthropic client.
    </Empty>
  );
}

function matching(solves: readonly ListedSolve[], words: string): readonly ListedSolve[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return solves;
  return solves.filter(({ id, question, status, waitsFor }) => {
    const text = `${question ?? ''} ${id} ${status} ${waitsFor ?? ''}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

function describeCount(shown: number, all: number, unlisted: number): string {
  const more = unlisted > 0 ? `, ${unlisted} more running` : '';
  return shown === all ? `${all}${more}` : `${shown} of ${all}${more}`;
}

/** Calls `focus` when `/` is pressed outside a text field. */
function useSlash(focus: () => void): void {
  useEffect(() => {
    const press = (event: globalThis.KeyboardEvent): void => {
      const isTyping =
        event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
      if (event.key !== '/' || isTyping) return;
      event.preventDefault();
      focus();
    };
    window.addEventListener('keydown', press);
    return () => {
      window.removeEventListener('keydown', press);
    };
  });
}
