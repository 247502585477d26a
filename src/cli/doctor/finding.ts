import { type Paint, widthOf, wrap } from '../../trace/lines';

export interface Finding {
  readonly what: string;
  /** `broken` keeps a solve or a night from running; `note` is good to know. */
  readonly state: 'fine' | 'note' | 'broken';
  readonly text: string;
}

export const fine = (what: string, text: string): Finding => ({ what, state: 'fine', text });
export const note = (what: string, text: string): Finding => ({ what, state: 'note', text });
export const broken = (what: string, text: string): Finding => ({ what, state: 'broken', text });

export const STORE_NOT_ASKED = 'not looked at, since the store is not trusted with what opens it';

const WHAT_COLUMNS = 16;
const LEAST_ROOM = 20;

/** A finding beside its name; what is too long for a line goes on below, nothing of it left out. */
export function describeFinding(
  { what, state, text }: Finding,
  { paint, columns = Infinity }: { readonly paint: Paint; readonly columns?: number | undefined },
): string {
  const mark = { fine: paint.good('✓'), note: paint.busy('·'), broken: paint.bad('✗') }[state];
  const room = Math.max(LEAST_ROOM, columns - WHAT_COLUMNS - 2);
  const lines = text.split('\n').flatMap((line) => (widthOf(line) <= room ? [line] : wrap([line], room)));
  return `${mark} ${what.padEnd(WHAT_COLUMNS)}${lines.join(`\n${' '.repeat(WHAT_COLUMNS + 2)}`)}`;
}
