import type { Client } from '@temporalio/client';
import { HistoryDecoder, readHistory, type TemporalEvent } from './history';
import { readPendingCall } from './pending-call';

const AT_FIRST = { round: 0, depth: 0, now: '' };

/** `step 2 (alpha)`, or `the plan`: what an activity of a run was scheduled for; null where it is no call of a model. */
export async function nameCall(
  client: Client,
  workflowId: string,
  activityId: string | null | undefined,
): Promise<string | null> {
  for await (const events of readHistory(client, { workflowId }, false)) {
    const scheduled = events
      .map((event) => event.activityTaskScheduledEventAttributes)
      .find((attributes) => attributes != null && attributes.activityId === activityId);
    if (scheduled) return nameOf(scheduled, new HistoryDecoder(client.options.loadedDataConverter));
  }
  return null;
}

type Scheduled = NonNullable<TemporalEvent['activityTaskScheduledEventAttributes']>;

async function nameOf({ activityType, input }: Scheduled, decoder: HistoryDecoder): Promise<string | null> {
  const call = { type: activityType?.name, input: await decoder.first(input) };
  const started = readPendingCall(call, AT_FIRST)?.started;
  if (started?.kind === 'step-started') return `step ${started.step + 1} (${started.worker})`;
  return started?.kind === 'plan-asked' ? 'the plan' : null;
}
