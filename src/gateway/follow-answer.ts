import type { SolveResult } from '../protocol/solve';
import type { Asked } from './asked';
import type { Gateway } from './gateway';
import type { Key } from './keys';
import type { Started } from './start-solve';
import { AnswerTeller, type Told } from './told';

interface Answered {
  readonly gateway: Gateway;
  readonly key: Key;
  readonly started: Pick<Started, 'id' | 'result'>;
}

/** A client that has gone cancels nothing, unless it said so. */
export async function leave({ gateway, started }: Answered, { extension }: Asked): Promise<void> {
  if (extension.on_disconnect !== 'cancel') return;
  // The solve may have ended meanwhile.
  await gateway.conductor.cancel(started.id).catch(() => undefined);
}

/** Waits for the end of a solve, whose cost is then booked to the day of its key. */
export async function waitForResult(
  answered: Answered,
  asked: Asked,
  gone: AbortSignal,
): Promise<SolveResult> {
  const onGone = (): void => void leave(answered, asked);
  gone.addEventListener('abort', onGone);
  try {
    return await book(answered, await answered.started.result());
  } finally {
    gone.removeEventListener('abort', onGone);
  }
}

/** Tells what happens in a solve until its end, and then the whole of it. */
export async function* followAnswer(
  answered: Answered,
  signal: AbortSignal,
): AsyncGenerator<
  Exclude<Told, { kind: 'ended' }> | { readonly kind: 'result'; readonly result: SolveResult }
> {
  const { gateway, started } = answered;
  const teller = new AnswerTeller();
  for await (const event of gateway.conductor.stream(started.id, { signal })) {
    for (const told of teller.tell(event)) {
      if (told.kind !== 'ended') yield told;
    }
  }
  if (signal.aborted) return;
  yield { kind: 'result', result: await book(answered, await gateway.conductor.trace(started.id)) };
}

/** Books a solve whose caller does not wait for its end. What fails is booked when the key's day has no room left. */
export async function bookLater(answered: Answered): Promise<void> {
  if (answered.key.usdPerDay === null) return;
  const booked = answered.started.result().then((result) => book(answered, result));
  await booked.catch(() => undefined);
}

async function book({ gateway, key }: Answered, result: SolveResult): Promise<SolveResult> {
  await gateway.budgets.settle(key, result.id, Math.round(result.costUsd * 1e9));
  return result;
}
