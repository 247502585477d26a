import { useCallback, useSyncExternalStore } from 'react';

/** Place of a step: the run, its round and the index in its plan. */
export interface StepPlace {
  readonly childId: string | null;
  readonly round: number;
  readonly step: number;
}

/** Place of a text: a step, or the plan of a round. */
export type TextPlace = StepPlace | Omit<StepPlace, 'step'>;

function keyOfText(place: TextPlace): string {
  return [place.childId ?? '', place.round, 'step' in place ? place.step : 'plan'].join(' ');
}

/** Texts as they are streamed. They change many times a second, so only the components that show one render again. */
export class LiveTexts {
  private readonly texts = new Map<string, string>();
  private readonly listeners = new Set<() => void>();
  private isDue = false;

  readKey(key: string): string {
    return this.texts.get(key) ?? '';
  }

  /** Appends a piece of text; ignores one that does not start exactly at the end of the text so far. */
  add(place: TextPlace, offset: number, delta: string): void {
    const before = this.readKey(keyOfText(place));
    if (offset !== before.length) return;
    this.texts.set(keyOfText(place), before + delta);
    this.tellSoon();
  }

  drop(place: TextPlace): void {
    this.texts.delete(keyOfText(place));
    this.tellSoon();
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Notifies listeners at most once per animation frame. */
  private tellSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      for (const listener of this.listeners) listener();
    });
  }
}

export function useLiveText(texts: LiveTexts, place: TextPlace): string {
  const key = keyOfText(place);
  const read = useCallback(() => texts.readKey(key), [texts, key]);
  return useSyncExternalStore(texts.listen, read);
}
