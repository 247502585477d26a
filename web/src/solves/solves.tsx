import { type KeyboardEvent, type ReactElement, useEffect, useMemo, useRef, useState } from 'react';
import { useSolves } from '../api/queries';
import type { ListedSolve, Me } from '../api/types';
import { Choice } from '../parts/choice';
import { Link } from '../parts/link';
import { Empty, Problem } from '../parts/notice';
import { useNow } from '../parts/now';
import { useTitle } from '../parts/title';
import { goTo, leaveMark, markLeft, pathOfSolve, replaceQuery, useQueryOfPath } from '../route';
import { type Chosen, type Group, GROUPS, groupOf, holding, queryOf, readChosen } from './chosen';
import { EarlierSolves } from './earlier-solves';
import { COLUMNS, ROW_PX, SolveRow } from './row';
import { useRowsInSight } from './rows-in-sight';

/** Rows before the last known solve at which earlier ones are read. */
const AHEAD = 20;

/** Where a person was in the list, when opening a solve. */
interface Mark {
  readonly top: number;
  readonly activeId: string | null;
}

function readMark(): Mark {
  return { top: 0, activeId: null, ...(markLeft() as Partial<Mark> | null) };
}

/** Live list of solves: `/` filters, arrow keys move, Enter opens. Renders only the rows in sight. */
export function Solves({ me }: { readonly me: Me }): ReactElement {
  useTitle('Solves');
  const { data, error } = useSolves();
  const now = useNow(1000);
  const filter = useRef<HTMLInputElement>(null);
  const { group, words } = readChosen(useQueryOfPath());
  const found = useMemo(() => holding(data?.runs ?? [], words), [data, words]);
  const shown = useMemo(
    () => (group === null ? found : found.filter((solve) => groupOf(solve) === group)),
    [found, group],
  );
  // New solves move the rows, so the active one is known by its id.
  const [activeId, setActive] = useState(() => readMark().activeId);
  const active = Math.max(
    0,
    shown.findIndex(({ id }) => id === activeId),
  );
  const isShown = shown.length > 0;
  const { box, first, last, reveal } = useRowsInSight(shown.length, ROW_PX, readMark().top);
  useSlash(() => filter.current?.focus());
  useEffect(() => {
    // Focuses the list for the arrow keys, unless something else has focus.
    if (isShown && document.activeElement === document.body) box.current?.focus({ preventScroll: true });
  }, [isShown, box]);

  const markPlace = (): void => {
    leaveMark({ top: box.current?.scrollTop ?? 0, activeId: shown[active]?.id ?? null } satisfies Mark);
  };

  const choose = (change: Partial<Chosen>): void => {
    replaceQuery(queryOf({ group, words, ...change }));
    setActive(null);
  };
  const pick = (chip: Chip): void => {
    choose({ group: chip === 'all' ? null : chip });
  };
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(shown.length - 1, to));
    setActive(shown[next]?.id ?? null);
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
    else if (event.key === 'Enter' && open !== undefined) {
      markPlace();
      goTo(pathOfSolve(open.id));
    } else if (event.key === 'Escape') choose({ group: null, words: '' });
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
            choose({ words: event.target.value });
          }}
          onKeyDown={press}
        />
        <span className="count">
          {data !== undefined && describeCount(shown.length, data.runs.length, data.unlisted)}
        </span>
        {data !== undefined && (
          <EarlierSolves
            list={data}
            isFiltered={words !== '' || group !== null}
            isNear={last + AHEAD > shown.length}
          />
        )}
      </div>
      <Choice label="States" options={chipsOf(found, group)} chosen={group ?? 'all'} onChoose={pick} />
      {error !== null && data === undefined && <Problem>The solves cannot be read: {error.message}</Problem>}
      {data !== undefined && shown.length === 0 && <NoSolves isFiltered={data.runs.length > 0} />}
      <div
        ref={box}
        className="rows"
        role="grid"
        aria-label="Solves"
        aria-rowcount={shown.length + 1}
        aria-activedescendant={shown[active] && `solve-${active}`}
        tabIndex={0}
        onKeyDown={press}
        onClickCapture={markPlace}
        hidden={shown.length === 0}
      >
        <Heads />
        <div role="rowgroup" className="of-solves" style={{ height: shown.length * ROW_PX }}>
          {shown.slice(first, last).map((solve, index) => (
            <SolveRow
              key={solve.id}
              solve={solve}
              me={me}
              now={now}
              index={first + index}
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

type Chip = Group | 'all';

/** Choices of a state with the number of its solves; leaves out those that there are none of. */
function chipsOf(solves: readonly ListedSolve[], chosen: Group | null): (readonly [Chip, string])[] {
  const groups = Object.keys(GROUPS) as Group[];
  const chips = groups.map((group) => {
    const count = solves.filter((solve) => groupOf(solve) === group).length;
    return { group, count };
  });
  const shown = chips.filter(({ group, count }) => count > 0 || group === chosen);
  return [
    ['all', `All ${solves.length}`],
    ...shown.map(({ group, count }) => [group, `${GROUPS[group]} ${count}`] as const),
  ];
}

function Heads(): ReactElement {
  return (
    <div role="row" aria-rowindex={1} className="row-heads">
      {COLUMNS.map(([name, head]) => (
        <span key={name} role="columnheader" className={name}>
          {head}
        </span>
      ))}
    </div>
  );
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
