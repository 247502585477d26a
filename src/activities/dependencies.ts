import type { Config } from '../config/schema';
import type { ResolvedRun } from '../protocol/cards';
import type { LedgerRow } from '../store/ledger';
import type { Store } from '../store/store';
import type { ModelCall } from './model-call';
import type { BackgroundCalls, Complete } from './models/model';
import type { Permit } from './rate-limits/limiter';

/** Everything that the activities of one worker process share. */
export interface Dependencies {
  readonly config: Config;
  readonly store: Store;
  readonly complete: Complete;
  /** For cards that say `background`: the provider whose answers outlive the process that asked for them. */
  readonly background: BackgroundCalls;
  /** One for a process: it remembers what was sent. */
  readonly pacing: Pacing;
  readonly policy?: PolicyProvider;
  /** The only place that keys are read from. */
  readonly env: NodeJS.ProcessEnv;
}

/** Serves a Conductor that was trained. The core knows nothing of checkpoints: an add-on brings this. */
export interface PolicyProvider {
  /**
   * Fixes which checkpoint writes a run's plans: the one that is named, else the configured one, else the one that serves.
   * It throws ConfigError where there is none; a run whose Conductor is prompted stays as it is.
   */
  bind(run: ResolvedRun, checkpoint?: string): Promise<ResolvedRun>;
  readonly complete: Complete;
}

/**
 * Lets a request through now, after the `earlier` ones of its call; its permit must be released whatever becomes of it.
 *
 * @throws ApplicationFailure `Worker.Throttled`, `Worker.CircuitOpen` or `Store.Unavailable`: call again later, or not
 * at all
 */
export type Pacing = (call: ModelCall, earlier: readonly LedgerRow[]) => Promise<Permit>;
