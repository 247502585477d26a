import { activityInfo, Context } from '@temporalio/activity';
import type { LedgerRow } from '../store/ledger';
import { allowedMs, delayed } from './background-clock';
import type { Dependencies } from './dependencies';
import type { ModelCall } from './model-call';
import type { CallContext } from './models/failure';
import type { BackgroundCalls, ModelRequest, Progress } from './models/model';
import { contextOf, requestOf } from './send-request';
import { timeLimit } from './time-limit';

/** How long the beginning of an answer may go on after a cancellation: one whose id never arrives cannot be stopped. */
const BEGIN_GRACE_MS = 10_000;
/** How long one look, or the request to stop, may take. */
const LOOK_MS = 30_000;
const CANCEL_MS = 10_000;

/** One process's wait for one answer. */
export interface Wait {
  readonly background: BackgroundCalls;
  /** When the answer was begun, in epoch milliseconds. */
  readonly begunAt: number;
  /** Its signal aborts when the time of the card or of the run is over, whichever process began the answer. */
  readonly context: CallContext;
  /** The activity's own. */
  readonly cancellation: AbortSignal;
  readonly requestWith: (signal: AbortSignal) => ModelRequest;
}

/** Begins to wait for the answer that is paid under a row. */
export function openWait(
  { background }: Pick<Dependencies, 'background'>,
  call: ModelCall,
  apiKey: string | null,
  { callId, startedAt }: LedgerRow,
): Wait {
  const begunAt = Date.parse(startedAt);
  const timeoutMs = allowedMs({ begunAt, timeoutMs: call.timeoutMs, info: activityInfo() });
  const leftMs = Math.max(0, begunAt + timeoutMs - Date.now());
  return {
    background,
    begunAt,
    context: { ...contextOf(call, apiKey, timeLimit(leftMs)), timeoutMs },
    cancellation: Context.current().cancellationSignal,
    requestWith: (signal) => requestOf(call, { apiKey, callId }, signal),
  };
}

/** Has the answer begun. A cancellation stops that only after a while, so that there is an id to stop the rest by. */
export function begin({
  background,
  context,
  cancellation,
  requestWith,
}: Wait): ReturnType<BackgroundCalls['begin']> {
  cancellation.throwIfAborted();
  const signal = AbortSignal.any([context.signal, delayed(cancellation, BEGIN_GRACE_MS)]);
  return background.begin(requestWith(signal));
}

/** Not bound by the call's own time: an answer that is there is taken, however late somebody comes for it. */
export function look({ background, cancellation, requestWith }: Wait, id: string): Promise<Progress> {
  const signal = AbortSignal.any([cancellation, timeLimit(LOOK_MS)]);
  return background.look(requestWith(signal), id);
}

/** Has the vendor stop, as best it goes: null where it did not hear that. */
export async function cancel({ background, requestWith }: Wait, id: string): Promise<Progress | null> {
  try {
    return await background.cancel(requestWith(timeLimit(CANCEL_MS)), id);
  } catch {
    return null;
  }
}
