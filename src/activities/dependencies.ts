import type { Config } from '../pool/config-schema';
import type { Store } from '../store/store';
import type { BackgroundCalls, Complete } from './models/model';
import type { Pacing } from './pacing/pacing';

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
