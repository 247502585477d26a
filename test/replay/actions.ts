import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const historySchema = z.object({
  events: z.array(
    z.object({
      eventType: z.string(),
      activityTaskStartedEventAttributes: z.object({ attempt: z.number() }).optional(),
      markerRecordedEventAttributes: z.object({ workflowTaskCompletedEventId: z.string() }).optional(),
    }),
  ),
});

/** Actions that Temporal Cloud bills for an event of a history, by https://docs.temporal.io/cloud/actions (2026-11). */
const BILLED: Readonly<Record<string, number>> = {
  WORKFLOW_EXECUTION_STARTED: 1,
  ACTIVITY_TASK_SCHEDULED: 1,
  TIMER_STARTED: 1,
  // One for the intent to start a child, one for its start.
  START_CHILD_WORKFLOW_EXECUTION_INITIATED: 2,
  WORKFLOW_EXECUTION_SIGNALED: 1,
  WORKFLOW_EXECUTION_UPDATE_ACCEPTED: 1,
  WORKFLOW_EXECUTION_CONTINUED_AS_NEW: 1,
  UPSERT_WORKFLOW_SEARCH_ATTRIBUTES: 1,
};

/** Returns the Actions that a recorded history shows: all but heartbeats, queries and refused updates. */
export function actionsIn(name: string): number {
  const text = readFileSync(join(__dirname, 'histories', `${name}.json`), 'utf8');
  const { events } = historySchema.parse(JSON.parse(text));
  // The markers of one workflow task count as one, and each attempt after the first of an activity.
  const marked = new Set(
    events.flatMap((event) => event.markerRecordedEventAttributes?.workflowTaskCompletedEventId ?? []),
  );
  return events.reduce((sum, { eventType, activityTaskStartedEventAttributes: started }) => {
    const billed = BILLED[eventType.replace('EVENT_TYPE_', '')] ?? 0;
    return sum + billed + (started === undefined ? 0 : started.attempt - 1);
  }, marked.size);
}
