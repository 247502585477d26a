import { oneLine, widthOf } from './one-line';
import type { Paint } from './paint';

/** A line as wide as there is room for it. */
export type Line = (columns: number) => string;

/** A text as it is. */
export function plainLine(text: string): Line {
  return (room) => oneLine(text, room);
}

/** A text with a word before it that says what it is; no line where there is no text. */
export function noteLines(paint: Paint, label: string, text: string | undefined): Line[] {
  if (text === undefined || text === '') return [];
  return [(room) => `${paint.faint(label)} ${oneLine(text, room - label.length - 1)}`];
}

/** A name and what there is to know of it; facts that are empty are left out. */
export function headLine(paint: Paint, name: string, facts: readonly string[]): Line {
  const rest = facts.filter((fact) => fact !== '').join(' · ');
  return (room) => {
    const shown = oneLine(name, room);
    return `${paint.strong(shown)}  ${paint.faint(oneLine(rest, room - widthOf(shown) - 2))}`;
  };
}
