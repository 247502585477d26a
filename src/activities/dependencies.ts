import type { Config } from '../config/schema';
import type { ResolvedRun } from '../protocol/run';
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
  /** The verbs behind the one provider whose answers outlive the process that asked for them; for cards that say `background`. */
  readonly background: BackgroundCalls;
  /** Lets requests through, to each model as many as it may be sent. One for a process: it remembers what was sent. */
  readonly pacing: Pacing;
  /** Serves a Conductor of provider `policy`, where an add-on knows how. */
  readonly policy?: PolicyProvider;
  /** Where keys are read from, and nowhere else. */
  readonly env: NodeJS.ProcessEnv;
}

/** What serves a Conductor that was trained. The core knows nothing of checkpoints: an add-on brings this. */
export interface PolicyProvider {
  /**
   * Fixes which checkpoint writes a run's plans, and how it is asked; any other run stays as it is.
   *
   * @throws ConfigError where none serves
   */
  bind(run: ResolvedRun): Promise<ResolvedRun>;
  readonly complete: Complete;
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
