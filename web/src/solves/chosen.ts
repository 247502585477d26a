import { stateOfRun } from '../parts/state-mark';
import type { ListedSolve } from '../api/types';

/** Groups of solves that the list can show alone, in the order of their chips. */
export const GROUPS = {
  asks: 'Waits for you',
  running: 'Running',
  failed: 'Failed',
  done: 'Done',
  cancelled: 'Cancelled',
} as const;
export type Group = keyof typeof GROUPS;

/** What the list shows: all solves, or those of a group, that hold all words. */
export interface Chosen {
  readonly group: Group | null;
  readonly words: string;
}

export function groupOf({ status, waitsFor }: Pick<ListedSolve, 'status' | 'waitsFor'>): Group {
  const state = stateOfRun(status, waitsFor);
  return state === 'waiting' ? 'running' : state;
}

/** Reads a choice from the query of an address. */
export function readChosen(query: string): Chosen {
  const fields = new URLSearchParams(query);
  const named = fields.get('state') ?? '';
  return { group: named in GROUPS ? (named as Group) : null, words: fields.get('words') ?? '' };
}

/** Writes a choice as the query of an address; empty for all solves. */
export function queryOf({ group, words }: Chosen): string {
  const fields = new URLSearchParams();
  if (group !== null) fields.set('state', group);
  if (words !== '') fields.set('words', words);
  const query = fields.toString();
  return query === '' ? '' : `?${query}`;
}

/** Returns the solves that hold all words, of every group: chips count them. */
export function holding(solves: readonly ListedSolve[], words: string): readonly ListedSolve[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return solves;
  return solves.filter(({ id, question, status, waitsFor, workers }) => {
    const text = `${question ?? ''} ${id} ${status} ${waitsFor ?? ''} ${workers.join(' ')}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
