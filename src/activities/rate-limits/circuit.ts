/** A model is left alone after so many failures in a row, for so long the first time. */
export interface CircuitSettings {
  readonly failures: number;
  readonly pauseMs: number;
}

/** No pause is longer, unless it was configured so: a provider that is back must not be waited for all day. */
const LONGEST_MS = 10 * 60_000;

/**
 * A circuit breaker: closed while a model answers, open after too many failures in a row. When the pause is over one
 * call may probe. An answer closes the circuit, a failure opens it for twice as long; a probe that shows neither, or
 * never ends, leaves room for another after one more pause. The caller says what time it is, in milliseconds.
 */
export class Circuit {
  private failures = 0;
  private open: { readonly until: number; readonly pauseMs: number } | null = null;

  constructor(private readonly settings: CircuitSettings) {}

  /** Milliseconds until the model may be asked; 0: now. */
  waitAt(now: number): number {
    return this.open === null ? 0 : Math.max(0, this.open.until - now);
  }

  /** Notes that a call, allowed by `waitAt`, goes through; true when it is the probe. */
  pass(now: number): boolean {
    if (this.open !== null) this.open = { ...this.open, until: now + this.settings.pauseMs };
    return this.open !== null;
  }

  answered(): void {
    [this.failures, this.open] = [0, null];
  }

  failed(now: number, wasProbe: boolean): void {
    const { failures: most, pauseMs: first } = this.settings;
    this.failures += 1;
    if (this.open === null ? this.failures < most : !wasProbe) return;
    const pauseMs = this.open === null ? first : Math.min(this.open.pauseMs * 2, Math.max(LONGEST_MS, first));
    this.open = { until: now + pauseMs, pauseMs };
  }
}
