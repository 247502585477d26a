import { setTimeout as sleep } from 'node:timers/promises';
import { keepBegun } from '../store/background';
import type { LedgerRow } from '../store/ledger';
import type { Store } from '../store/store';
import { pauseMs } from './background-clock';
import { begin, look, openWait, type Wait } from './background-wait';
import type { Dependencies } from './dependencies';
import { whileHeartbeating } from './heartbeat';
import type { ModelCall } from './model-call';
import type { Progress } from './models/model';
import { brokenBy, type SentRequest } from './send-request';
import { type Ended, settleBackground } from './settle-background';
import { type LeftRunning, stopWaiting } from './stop-waiting';

/** An answer by the row it is paid under; `id` is null while the vendor has not been asked for it. */
export interface BackgroundAnswer {
  readonly row: LedgerRow;
  readonly id: string | null;
}

/**
 * Has an answer written in the background and waits for its end, with heartbeats. One that an earlier attempt began is
 * waited for, and not bought again.
 *
 * The id is kept before the first look, and a look that fails ends nothing. Never throws for what the provider does.
 */
export async function callInBackground(
  dependencies: Pick<Dependencies, 'background' | 'store'>,
  call: ModelCall,
  apiKey: string | null,
  { row, id }: BackgroundAnswer,
): Promise<SentRequest | LeftRunning> {
  const wait = openWait(dependencies, call, apiKey, row);
  return whileHeartbeating(() =>
    id === null ? beginAndFollow(dependencies.store, wait, row) : follow(wait, id, null),
  );
}

async function beginAndFollow(
  store: Store,
  wait: Wait,
  { callId, attempt }: LedgerRow,
): Promise<SentRequest | LeftRunning> {
  let begun: Awaited<ReturnType<typeof begin>>;
  try {
    begun = await begin(wait);
  } catch (error) {
    return brokenBy(error, wait.context, wait.cancellation);
  }
  await keepBegun(store, { callId, attempt, id: begun.id });
  return follow(wait, begun.id, begun.progress);
}

async function follow(wait: Wait, id: string, known: Progress | null): Promise<SentRequest | LeftRunning> {
  try {
    return settleBackground(await waitForEnd(wait, id, known), wait.context);
  } catch (error) {
    return stopWaiting(wait, id, error);
  }
}

async function waitForEnd(wait: Wait, id: string, known: Progress | null): Promise<Ended> {
  const { begunAt, cancellation, context } = wait;
  const signal = AbortSignal.any([cancellation, context.signal]);
  let progress = known ?? (await look(wait, id));
  while (progress.status === 'running') {
    await sleep(pauseMs(Date.now() - begunAt), undefined, { signal });
    progress = await look(wait, id);
  }
  return progress;
}
