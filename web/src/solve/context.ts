import { createContext, useContext } from 'react';
import type { LiveTexts, TextPlace } from '../api/live-texts';
import type { Me, Solve } from '../api/types';

/** The solve that is shown, for all components that show parts of it. */
export interface Shown {
  readonly solve: Solve;
  readonly me: Me;
  readonly texts: LiveTexts;
  readonly thoughts: LiveTexts;
  readonly selected: TextPlace | null;
  readonly select: (place: TextPlace | null) => void;
}

export const ShownContext = createContext<Shown | null>(null);

export function useShown(): Shown {
  const shown = useContext(ShownContext);
  if (shown === null) throw new Error('nothing is shown of a solve here');
  return shown;
}

export function isSamePlace(one: TextPlace | null, other: TextPlace): boolean {
  return one?.childId === other.childId && one.round === other.round && one.step === other.step;
}
