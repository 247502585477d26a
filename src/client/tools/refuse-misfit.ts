import type { Client } from '@temporalio/client';
import { checkArguments } from '../../activities/check-arguments';
import type { CallDecision } from '../../protocol/call-decision';
import { LIST_TOOLS } from '../../protocol/names';
import type { ListedTools } from '../../protocol/tool-use';
import type { Store } from '../../store/store';
import { waitingCalls } from '../../trace/waiting-calls';
import { HistoryDecoder, readHistory } from '../history';
import { RefusedError } from '../steer';
import { readRunNow } from '../trace-reader';

/**
 * Refuses arguments of a person that would not fit the tool of their call, while another decision is still possible: the
 * run itself could only tell the model.
 * @throws RefusedError that says what does not fit
 */
export async function refuseMisfit(
  client: Client,
  store: Store,
  run: string,
  { call, arguments: given }: Pick<CallDecision, 'call' | 'arguments'>,
): Promise<void> {
  if (given === undefined) return;
  const { trace } = await readRunNow(client, run);
  const waiting = waitingCalls(trace).find(({ id }) => id === call);
  const listed = await readListed(client, run);
  if (waiting === undefined || listed === null) return;
  const input = JSON.stringify(given);
  const misfit = await checkArguments(store, { list: listed.list, tool: waiting, input });
  if (misfit !== null) throw new RefusedError(misfit);
}

/** Returns the tools of a run, from its history; null if it has listed none. */
async function readListed(client: Client, workflowId: string): Promise<ListedTools | null> {
  const decoder = new HistoryDecoder(client.options.loadedDataConverter);
  let listing: string | null = null;
  for await (const events of readHistory(client, { workflowId }, null)) {
    for (const event of events) {
      const { activityTaskScheduledEventAttributes: begun, activityTaskCompletedEventAttributes: ended } =
        event;
      if (begun?.activityType?.name === LIST_TOOLS) listing = String(event.eventId);
      if (listing === null || String(ended?.scheduledEventId) !== listing) continue;
      return (await decoder.first(ended?.result)) as ListedTools;
    }
  }
  return null;
}
