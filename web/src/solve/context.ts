import { createContext, useContext } from 'react';
import type { LiveTexts, StepPlace } from '../api/live-texts';
import type { Me, Solve } from '../api/types';

/** The solve that is shown, for all components that show parts of it. */
export interface Shown {
  readonly solve: Solve;
  readonly me: Me;
  readonly texts: LiveTexts;
  readonly thoughts: LiveTexts;
  readonly selected: StepPlace | null;
  /** End of the names of its regions: ` of the second solve` where two are shown, otherwise empty. */
  readonly which: string;
  readonly select: (place: StepPlace | null) => void;
  /** Whether its plans are shown as lists with their time line, or as graphs. */
  readonly view: TeamView;
  readonly setView: (view: TeamView) => void;
}

export type TeamView = 'graph' | 'list';

export const ShownContext = createContext<Shown | null>(null);

export function useShown(): Shown {
  const shown = useContext(ShownContext);
  if (shown === null) throw new Error('nothing is shown of a solve here');
  return shown;
}

export function isSamePlace(one: StepPlace | null, other: StepPlace): boolean {
  return one?.childId === other.childId && one.round === other.round && one.step === other.step;
}
