import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Client } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';
import { readHistory } from '../../src/client';
import { isoTime } from '../../src/client/history';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const POLLS = 20;

/** Returns a client whose calls leave a listener on their signal, as the SDK's do. */
function clientOf(answer: (index: number) => Promise<object>) {
  const replies: WeakRef<object>[] = [];
  const ended: true[] = [];
  let signal: AbortSignal | undefined;
  const client = {
    options: { namespace: 'default', loadedDataConverter: {} },
    withAbortSignal: (given: AbortSignal, ask: () => Promise<object>) => {
      signal = given;
      return ask();
    },
    workflowService: {
      describeWorkflowExecution: () => Promise.resolve({}),
      getWorkflowExecutionHistory: async () => {
        const index = replies.length;
        const call: { reply?: object; cancel: () => void } = { cancel: () => delete call.reply };
        const stopped = new Promise<never>((_, reject) => {
          signal?.addEventListener('abort', () => {
            call.cancel();
            ended.push(true);
            reject(new Error('cancelled'));
          });
        });
        call.reply = await Promise.race([answer(index), stopped]);
        replies.push(new WeakRef(call.reply));
        return call.reply;
      },
    },
  };
  return { client: client as unknown as Client, replies, ended };
}

const pageOf = (index: number): Promise<object> =>
  Promise.resolve({
    history: { events: [] },
    nextPageToken: new Uint8Array(index < POLLS - 1 ? 1 : 0),
  });

test('following a run for long retains nothing of the calls that are over', async () => {
  const { client, replies } = clientOf(pageOf);
  const following = AbortSignal.any([new AbortController().signal]);
  for await (const events of readHistory(client, { workflowId: 'run' }, following))
    expect(events).toEqual([]);
  expect(replies).toHaveLength(POLLS);
  expect(getEventListeners(following, 'abort')).toEqual([]);
  await turn();
  collectGarbage();
  expect(replies.filter((reply) => reply.deref() !== undefined).length).toBeLessThan(3);
});

test('a reader that stops ends the call under way, and begins no other', async () => {
  const { client, replies, ended } = clientOf(() => new Promise(() => undefined));
  const leaving = new AbortController();
  const reading = readHistory(client, { workflowId: 'run' }, leaving.signal).next();
  await turn();
  leaving.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  expect(ended).toHaveLength(1);
  const again = readHistory(client, { workflowId: 'run' }, leaving.signal).next();
  await expect(again).rejects.toMatchObject({ name: 'AbortError' });
  expect(replies).toEqual([]);
});

test('a connection that ignores the signal does not delay a reader that stops', async () => {
  const { client } = clientOf(() => new Promise(() => undefined));
  Object.assign(client, { withAbortSignal: (_: AbortSignal, ask: () => Promise<object>) => ask() });
  const leaving = new AbortController();
  const reading = readHistory(client, { workflowId: 'run' }, leaving.signal).next();
  await turn();
  leaving.abort();
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
});

test('the last nanosecond of a millisecond belongs to it, as a workflow’s clock has it', () => {
  const time = msToTs(Date.parse('2026-11-30T19:03:37Z'));
  expect(isoTime({ ...time, nanos: 801_999_999 })).toBe('2026-11-30T19:03:37.801Z');
});
