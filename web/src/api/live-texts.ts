import { useCallback, useSyncExternalStore } from 'react';

/** Where a text is written: the run, its round and the step. */
export interface TextPlace {
  readonly childId: string | null;
  readonly round: number;
  readonly step: number;
}

const nameOf = ({ childId, round, step }: TextPlace): string => `${childId ?? ''} ${round} ${step}`;

/** Texts as they are written. They change many times a second, so that only what shows one is drawn again. */
export class LiveTexts {
  readonly #texts = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  read(place: TextPlace): string {
    return this.#texts.get(nameOf(place)) ?? '';
  }

  /** Adds a piece where it belongs; one that was there already, or does not go on from what is, changes nothing. */
  add(place: TextPlace, offset: number, delta: string): void {
    const before = this.read(place);
    if (offset !== before.length) return;
    this.#texts.set(nameOf(place), before + delta);
    this.#tellSoon();
  }

  drop(place: TextPlace): void {
    this.#texts.delete(nameOf(place));
    this.#tellSoon();
  }

  readonly listen = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Once a frame at most. */
  #tellSoon(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => {
      this.#isDue = false;
      for (const listener of this.#listeners) listener();
    });
  }
}

export function useLiveText(texts: LiveTexts, { childId, round, step }: TextPlace): string {
  const read = useCallback(() => texts.read({ childId, round, step }), [texts, childId, round, step]);
  return useSyncExternalStore(texts.listen, read);
}
