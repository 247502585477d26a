import type { SolveResult } from '../../src';
import type { Stage } from './stage';

/** Waits until a run has ended, however it did, and returns its trace. */
export async function endOf({ temporal, client }: Stage, id: string): Promise<SolveResult> {
  const end = temporal.client.workflow.getHandle(id).result();
  await end.catch(() => undefined);
  return client.trace(id);
}
