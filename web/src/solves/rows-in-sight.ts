import { type RefObject, useEffect, useRef, useState } from 'react';

interface RowsInSight {
  readonly box: RefObject<HTMLDivElement | null>;
  /** Rows to render: from `first` up to but not including `last`. */
  readonly first: number;
  readonly last: number;
  /** Scrolls just far enough to show a row. */
  readonly reveal: (row: number) => void;
}

/** Extra rows above and below, so that quick scrolling shows no gap. */
const MARGIN = 8;

/** Finds the visible rows, all of one height, of a scrolling box. @param from where to start, in pixels */
export function useRowsInSight(count: number, rowPx: number, from: number): RowsInSight {
  const box = useRef<HTMLDivElement>(null);
  const [sight, setSight] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = box.current;
    if (element === null) return undefined;
    const look = (): void => {
      setSight({ top: element.scrollTop, height: element.clientHeight });
    };
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, []);
  const isFilled = count > 0;
  const start = useRef(from);
  useEffect(() => {
    if (isFilled && box.current !== null) box.current.scrollTop = start.current;
    if (isFilled) start.current = 0;
  }, [isFilled]);
  const reveal = (row: number): void => {
    const element = box.current;
    if (element === null) return;
    // The heads stay in sight, above the rows.
    const head = element.firstElementChild?.clientHeight ?? 0;
    const room = element.clientHeight - head;
    const [top, bottom] = [row * rowPx, (row + 1) * rowPx];
    if (top < element.scrollTop) element.scrollTop = top;
    else if (bottom > element.scrollTop + room) element.scrollTop = bottom - room;
  };
  const first = Math.max(0, Math.floor(sight.top / rowPx) - MARGIN);
  return {
    box,
    first,
    last: Math.min(count, Math.ceil((sight.top + sight.height) / rowPx) + MARGIN),
    reveal,
  };
}
