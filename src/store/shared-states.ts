/** A small text that several processes change, as one of them read it. */
export interface SharedState {
  /** null where nothing was written yet. */
  readonly text: string | null;
  /** Another one after each change. */
  readonly version: number;
  /** Milliseconds, by the clock that all of them share. */
  readonly now: number;
}

/**
 * Small texts that processes change side by side. None is ever locked: whoever is stopped in between holds up nobody.
 */
export interface SharedStates {
  read(name: string): Promise<SharedState>;
  /** Writes where nobody else has since that version: of many that do so at once, one is told `true`. */
  swap(name: string, text: string, version: number): Promise<boolean>;
}

/** Such texts of one process alone. */
export class OwnStates implements SharedStates {
  private readonly states = new Map<string, Omit<SharedState, 'now'>>();

  /** @param now milliseconds, never going back */
  constructor(private readonly now: () => number) {}

  read(name: string): Promise<SharedState> {
    return Promise.resolve({ ...(this.states.get(name) ?? { text: null, version: 0 }), now: this.now() });
  }

  swap(name: string, text: string, version: number): Promise<boolean> {
    const isMine = (this.states.get(name)?.version ?? 0) === version;
    if (isMine) this.states.set(name, { text, version: version + 1 });
    return Promise.resolve(isMine);
  }
}
