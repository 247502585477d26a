import { type KeyboardEvent, type ReactElement, useEffect, useRef, useState } from 'react';
import { joinFacts } from '../../../src/trace/describe';
import { isUnfinishedState, RUN_STATES, type RunState } from '../../../src/trace/run-filter';
import type { Me } from '../api/types';
import { Choice } from '../parts/choice';
import { Link } from '../parts/link';
import { Empty, Problem } from '../parts/notice';
import { useNow } from '../parts/now';
import { useTitle } from '../parts/title';
import { goTo, leaveMark, markLeft, pathOfSolve, replaceQuery, useQueryOfPath } from '../route';
import { ALL, type Chosen, queryOf, readChosen, STATE_NAMES } from './chosen';
import { Days } from './days';
import { EarlierSolves } from './earlier-solves';
import { COLUMNS, ROW_PX, SolveRow } from './row';
import { useRowsInSight } from './rows-in-sight';
import { type Found, useFound } from './use-found';

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
  const now = useNow(1000);
  const filter = useRef<HTMLInputElement>(null);
  const chosen = readChosen(useQueryOfPath());
  const found = useFound(chosen);
  const { runs: shown, list } = found;
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
    replaceQuery(queryOf({ ...chosen, ...change }));
    setActive(null);
  };
  const pick = (chip: Chip): void => {
    choose({ state: chip === 'all' ? null : chip });
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
    } else if (event.key === 'Escape') choose(ALL);
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
          placeholder="Filter by words, worker or id   /"
          value={chosen.words}
          onChange={(event) => {
            choose({ words: event.target.value });
          }}
          onKeyDown={press}
        />
        <span className="count">{list !== undefined && describeCount(found)}</span>
        {list !== undefined && (
          <EarlierSolves
            found={found}
            isSearch={chosen.words.trim() !== ''}
            isNear={last + AHEAD > shown.length}
          />
        )}
      </div>
      <div className="chips">
        <Choice
          label="States"
          options={chipsOf(found, chosen)}
          chosen={chosen.state ?? 'all'}
          onChoose={pick}
        />
        <Days chosen={chosen} onChoose={choose} />
      </div>
      {found.error !== null && list === undefined && (
        <Problem>The solves cannot be read: {found.error.message}</Problem>
      )}
      {list !== undefined && shown.length === 0 && <NoSolves found={found} isSome={list.runs.length > 0} />}
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

function NoSolves({ found, isSome }: { readonly found: Found; readonly isSome: boolean }): ReactElement {
  if (!isSome)
    return (
      <Empty title="No solves yet">
        <Link href="/">Ask the first question</Link>, or send one with an OpenAI or Anthropic client.
      </Empty>
    );
  if (found.isPending) return <Empty title="Looking …">Solves that ended earlier are looked through.</Empty>;
  const more = found.isAll ? '' : 'look further back, ';
  return <Empty title="No solve matches">Try other words, {more}or press Escape to see all.</Empty>;
}

type Chip = RunState | 'all';

/** Choices of a state. Each tells the number of its solves as soon as that is known, and is left out if it is 0. */
function chipsOf({ list, ofAnyState, ofState }: Found, chosen: Chosen): (readonly [Chip, string])[] {
  const isWhole = list === undefined || list.earlier === null;
  const chips = RUN_STATES.flatMap((state): (readonly [Chip, string])[] => {
    const count = ofState.get(state)?.length ?? 0;
    const name = STATE_NAMES[state];
    if (!isWhole && !isUnfinishedState(state)) return [[state, name]];
    return count > 0 || state === chosen.state ? [[state, `${name} ${count}`]] : [];
  });
  return [['all', isWhole ? `All ${ofAnyState.length}` : 'All'], ...chips];
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

function describeCount({ runs, list, isAll }: Found): string {
  const unlisted = list?.unlisted ?? 0;
  return joinFacts(`${runs.length}${isAll ? '' : ' so far'}`, unlisted > 0 && `${unlisted} more running`);
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
