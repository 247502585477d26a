import { reasonOf } from '../errors';
import { type Paint, widthOf, wrap } from '../trace/lines';

/** Outcome of one look. */
export interface Looked {
  /** `broken` keeps a solve or a night from running; `note` is good to know. */
  readonly state: 'fine' | 'note' | 'broken';
  readonly text: string;
}

/** An outcome with the name of what was looked at, a line of `doctor`. */
export interface Finding extends Looked {
  readonly what: string;
}

export const fine = (text: string): Looked => ({ state: 'fine', text });
export const note = (text: string): Looked => ({ state: 'note', text });
export const broken = (text: string): Looked => ({ state: 'broken', text });

export const NOT_ASKED = note('not looked at, since the store is not trusted with what opens it');

/** Makes a check; one that throws has found out what is wrong. */
export async function find(
  what: string,
  look: () => Looked | readonly Looked[] | Promise<Looked | readonly Looked[]>,
): Promise<Finding[]> {
  try {
    return [await look()].flat().map((looked) => ({ what, ...looked }));
  } catch (error) {
    return [{ what, ...broken(reasonOf(error)) }];
  }
}

const WHAT_COLUMNS = 16;
const LEAST_ROOM = 20;

/** A finding beside its name; what is too long for a line goes on below, nothing of it left out. */
export function describeFinding({ what, state, text }: Finding, paint: Paint, columns = Infinity): string {
  const mark = { fine: paint.good('✓'), note: paint.busy('·'), broken: paint.bad('✗') }[state];
  const room = Math.max(LEAST_ROOM, columns - WHAT_COLUMNS - 2);
  const lines = text.split('\n').flatMap((line) => (widthOf(line) <= room ? [line] : wrap([line], room)));
  return `${mark} ${what.padEnd(WHAT_COLUMNS)}${lines.join(`\n${' '.repeat(WHAT_COLUMNS + 2)}`)}`;
}
