import type { Client } from '@temporalio/client';
import { isNotFound } from '../../src/client/steer';
import { until } from './until';

/** Waits until a signal is in a run's history, be the run there already or still to come. */
export async function untilHeard(client: Client, id: string, name: string): Promise<void> {
  await until(
    () => heardSignals(client, id),
    (heard) => heard.includes(name),
  );
}

/** The names of the signals in a run's history, oldest first. */
async function heardSignals(client: Client, id: string): Promise<string[]> {
  try {
    const { events } = await client.workflow.getHandle(id).fetchHistory();
    return (events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signal }) => signal?.signalName ?? [],
    );
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}
