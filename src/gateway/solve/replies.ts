import { HistoryDecoder, readHistory } from '../../client/history';
import type { WritePlanRequest, WritePlanResult } from '../../protocol/activity-contract';
import { WRITE_PLAN } from '../../protocol/names';
import { readText } from '../../store/texts';
import type { Gateway } from '../gateway';

interface RoundOfRun {
  readonly id: string;
  readonly round: number;
}

/** All that the Conductor wrote for a round, its thoughts included: the first reply, then its repairs and later plans. */
export async function readReplies(
  { temporal, store }: Pick<Gateway, 'temporal' | 'store'>,
  { id, round }: RoundOfRun,
): Promise<readonly string[]> {
  const decoder = new HistoryDecoder(temporal.options.loadedDataConverter);
  const asked = new Set<string>();
  const replies: string[] = [];
  for await (const events of readHistory(temporal, { workflowId: id }, null)) {
    for (const event of events) {
      const { activityTaskScheduledEventAttributes: call, activityTaskCompletedEventAttributes: end } = event;
      if (call?.activityType?.name === WRITE_PLAN) {
        const request = (await decoder.first(call.input)) as WritePlanRequest;
        if (request.round === round) asked.add(String(event.eventId));
      } else if (end && asked.has(String(end.scheduledEventId))) {
        const { reply } = (await decoder.first(end.result)) as WritePlanResult;
        replies.push(await readText(store, reply));
      }
    }
  }
  return replies.filter((reply) => reply !== '');
}
