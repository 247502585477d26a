import type { Config } from '../config/schema';
import type { LedgerRow } from '../store/ledger';
import type { Store } from '../store/store';
import type { ModelCall } from './model-call';
import type { BackgroundCalls, Complete } from './models/model';
import type { Permit } from './rate-limits/limiter';

/** What the activities of one worker process work with. */
export interface Dependencies {
  readonly config: Config;
  readonly store: Store;
  /** The one verb behind every provider. */
  readonly complete: Complete;
  /** The verbs behind the one provider whose answers outlive whoever asked for them; for cards that say `background`. */
  readonly background: BackgroundCalls;
  /** Lets requests through, to each model as many as it may be sent. One for a process: it remembers what was sent. */
  readonly pacing: Pacing;
  /** Where keys are read from, and nowhere else. */
  readonly env: NodeJS.ProcessEnv;
}

/** What decides, in one worker process, whether a request may be sent now. */
export interface Pacing {
  /**
   * Lets a request through, which must leave again whatever becomes of it.
   *
   * @param earlier the requests that were sent for this call before
   * @throws ApplicationFailure `Worker.Throttled` or `Worker.CircuitOpen`: to be called again later, or not at all
   */
  enter(call: ModelCall, earlier: readonly LedgerRow[]): Permit;
}
