import type { Client } from '@temporalio/client';
import { describeMisfit, fitSchema } from '../../activities/fit-schema';
import type { CallDecision } from '../../protocol/call-decision';
import { LIST_TOOLS } from '../../protocol/names';
import type { OfferedTool } from '../../protocol/parts';
import type { ListedTools } from '../../protocol/tool-use';
import type { Store } from '../../store/store';
import { readText } from '../../store/texts';
import { waitingCalls } from '../../trace/waiting-calls';
import { HistoryDecoder, readHistory } from '../history';
import { RefusedError } from '../steer';
import { readRunNow } from '../trace-reader';

/**
 * Checks the arguments that a person gives for a call against the schema of its tool, as the run lists it, so that a
 * mistake is told to the person and not to the model. A run relies on it for nothing: it sends what a model wrote, or what
 * came past this client, as it is, and each tool refuses what it does not take. A schema that cannot be used here is left
 * to the tool, too.
 * @throws RefusedError that says what does not fit
 */
export async function checkArguments(
  client: Client,
  store: Store,
  run: string,
  { call, arguments: given }: Pick<CallDecision, 'call' | 'arguments'>,
): Promise<void> {
  if (given === undefined) return;
  const { trace } = await readRunNow(client, run);
  const waiting = waitingCalls(trace).find(({ id }) => id === call);
  if (waiting === undefined) return;
  const { name } = waiting;
  const listed = await readListed(client, run);
  if (listed === null) return;
  const offered = JSON.parse(await readText(store, listed.list)) as OfferedTool[];
  const tool = offered.find((each) => each.name === name);
  if (tool === undefined) return;
  const value = JSON.stringify(given);
  const misfit = describeMisfit(await fitSchema({ schema: JSON.stringify(tool.input), value }));
  if (misfit !== null) throw new RefusedError(`the arguments do not fit the tool ${name}: ${misfit}`);
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
