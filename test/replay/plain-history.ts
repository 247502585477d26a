import type { WorkflowHandle } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils';

/** A history in JSON, as far as this module looks into it. */
interface PlainHistory {
  readonly events: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The history of a run as it is kept, once the run is over. Stack traces are left out: they hold the paths of the
 * machine that recorded them, and a replay does not look at them.
 */
export async function plainHistory(run: WorkflowHandle): Promise<string> {
  return `${JSON.stringify(await readHistory(run), null, 1)}\n`;
}

/**
 * A history with one event a line, and without what the run handed to activities and children: a replay does not look at
 * that, and a night hands over much.
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
