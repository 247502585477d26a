import { isWithin } from '../../../src/trace/run-tree';
import type { StepPlace } from '../api/live-texts';
import { replaceQuery, useQueryOfPath } from '../route';

/** Returns the selected step of a solve, which the address names, and a function that selects another, or none. */
export function useSelected(id: string): readonly [StepPlace | null, (place: StepPlace | null) => void] {
  const query = useQueryOfPath();
  const select = (place: StepPlace | null): void => {
    replaceQuery(place === null ? '' : queryOf(id, place));
  };
  return [readPlace(id, query), select];
}

/** Rounds and steps are counted from 1 in an address, as everywhere that people read them. */
function queryOf(id: string, { childId, round, step }: StepPlace): string {
  const fields = { run: childId ?? id, round: String(round + 1), step: String(step + 1) };
  return `?${new URLSearchParams(fields).toString()}`;
}

function readPlace(id: string, query: string): StepPlace | null {
  const fields = new URLSearchParams(query);
  const run = fields.get('run');
  if (run === null || !isWithin(run, id)) return null;
  const [round = NaN, step = NaN] = ['round', 'step'].map((name) => Number(fields.get(name)) - 1);
  if (!isIndex(round) || !isIndex(step)) return null;
  return { childId: run === id ? null : run, round, step };
}

function isIndex(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}
