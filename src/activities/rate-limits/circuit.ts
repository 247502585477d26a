/** When a model is left alone, and for how long. */
export interface CircuitSettings {
  readonly failures: number;
  /** How long it stays open the first time; twice as long after each probe that fails. */
  readonly pauseMs: number;
}

/** No pause is longer, unless it was configured so: a provider that is back must not be waited for all day. */
const LONGEST_MS = 10 * 60_000;

type State =
  | { readonly kind: 'closed'; readonly failures: number }
  | { readonly kind: 'open'; readonly until: number; readonly pauseMs: number };

const HEALTHY: State = { kind: 'closed', failures: 0 };

/**
 * A circuit breaker: closed while a model answers, open after too many failures in a row.
 *
 * When the pause is over one call may probe. An answer closes the circuit, a failure opens it for twice as long; a probe
 * that shows neither, or never ends, leaves room for another after one more pause. There are no timers: the caller says
 * what time it is, in milliseconds.
 */
export class Circuit {
  private state = HEALTHY;

  constructor(private readonly settings: CircuitSettings) {}

  /** Milliseconds until the model may be asked; 0: now. */
  waitAt(now: number): number {
    return this.state.kind === 'open' ? Math.max(0, this.state.until - now) : 0;
  }

  /** Notes that a call, allowed by `waitAt`, goes through; true when it is the probe. */
  pass(now: number): boolean {
    if (this.state.kind === 'closed') return false;
    this.state = { ...this.state, until: now + this.settings.pauseMs };
    return true;
  }

  answered(): void {
    this.state = HEALTHY;
  }

  failed(now: number, wasProbe: boolean): void {
    const { failures: most, pauseMs } = this.settings;
    if (this.state.kind === 'open') {
      // Calls that were sent before it opened say nothing new.
      if (wasProbe) this.openFor(Math.min(this.state.pauseMs * 2, Math.max(LONGEST_MS, pauseMs)), now);
      return;
    }
    const failures = this.state.failures + 1;
    if (failures >= most) this.openFor(pauseMs, now);
    else this.state = { kind: 'closed', failures };
  }

  private openFor(pauseMs: number, now: number): void {
    this.state = { kind: 'open', until: now + pauseMs, pauseMs };
  }
}
