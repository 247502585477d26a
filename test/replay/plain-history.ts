import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

/** The part of a JSON history that this module reads. */
interface PlainHistory {
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Waits for a run to end and returns its history as JSON. Stack traces are left out: they hold paths of the recording
 * machine, and a replay ignores them.
 */
export async function plainHistory(run: WorkflowHandle): Promise<string> {
  return `${JSON.stringify(await readHistory(run), null, 1)}\n`;
}

/**
 * Returns a run's history with one event per line, without the inputs of activities and children: a replay ignores
 * them, and those of a night are large.
 */
export async function briefHistory(run: WorkflowHandle): Promise<string> {
  const { events } = await readHistory(run);
  const lines = events.map((event) =>
    JSON.stringify(event, (key, value: unknown) =>
      HANDING_OVER.has(key) ? { ...(value as object), input: undefined } : value,
    ),
  );
  return `{"events":[\n${lines.join(',\n')}\n]}\n`;
}

const HANDING_OVER: ReadonlySet<string> = new Set([
  'activityTaskScheduledEventAttributes',
  'startChildWorkflowExecutionInitiatedEventAttributes',
]);

async function readHistory(run: WorkflowHandle): Promise<PlainHistory> {
  await run.result().catch(() => undefined);
  return JSON.parse(historyToJSON(await run.fetchHistory()), (key, value: unknown) =>
    key === 'stackTrace' ? '' : value,
  ) as PlainHistory;
}
