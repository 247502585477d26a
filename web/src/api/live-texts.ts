import { useCallback, useSyncExternalStore } from 'react';

/** Place of a text: the run, its round and the step. */
export interface TextPlace {
  readonly childId: string | null;
  readonly round: number;
  readonly step: number;
}

const keyOfText = ({ childId, round, step }: TextPlace): string => `${childId ?? ''} ${round} ${step}`;

/** Texts as they are streamed. They change many times a second, so only the components that show one render again. */
export class LiveTexts {
  private readonly texts = new Map<string, string>();
  private readonly listeners = new Set<() => void>();
  private isDue = false;

  read(place: TextPlace): string {
    return this.texts.get(keyOfText(place)) ?? '';
  }

  /** Appends a piece of text; ignores one that does not start exactly at the end of the text so far. */
  add(place: TextPlace, offset: number, delta: string): void {
    const before = this.read(place);
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

export function useLiveText(texts: LiveTexts, { childId, round, step }: TextPlace): string {
  const read = useCallback(() => texts.read({ childId, round, step }), [texts, childId, round, step]);
  return useSyncExternalStore(texts.listen, read);
}
