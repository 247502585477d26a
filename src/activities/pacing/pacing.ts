import type { LedgerRow } from '../../store/ledger';
import type { ModelCall } from '../model-call';
import type { Passage } from './gate';

/** What decides, in one worker process, whether a request may be sent now. */
export interface Pacing {
  /**
   * Lets a request through, which must leave again whatever becomes of it.
   *
   * @param earlier the requests that were sent for this call before
   * @throws ApplicationFailure `Worker.Throttled` or `Worker.CircuitOpen`: to be called again later, or not at all
   */
  enter(call: ModelCall, earlier: readonly LedgerRow[]): Passage;
}
