/** Failures in a row that open a model's circuit, and the length of its first pause. */
export interface CircuitSettings {
  readonly failures: number;
  readonly pauseMs: number;
}

/** Longest pause, unless a longer one is configured, so that a provider that recovers is soon called again. */
const LONGEST_MS = 10 * 60_000;

/**
 * A circuit breaker: closed while a model answers, open after too many failures in a row. After the pause one call
 * may probe: an answer closes the circuit, a failure reopens it for twice as long. If the probe shows neither or
 * never ends, another may follow after a first pause. The caller passes the current time in milliseconds.
 */
export class Circuit {
  private failures = 0;
  private open: { readonly until: number; readonly pauseMs: number } | null = null;

  constructor(private readonly settings: CircuitSettings) {}

  /** Returns the milliseconds until the model may be called; 0 means now. */
  waitAt(now: number): number {
    return this.open === null ? 0 : Math.max(0, this.open.until - now);
  }

  /** Records a call that `waitAt` allowed. Returns whether it is the probe. */
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
