import type { Client } from '@temporalio/client';
import type { SolveInput } from '../protocol/input';
import { SOLVE_WORKFLOW } from '../protocol/names';
import { startOptionsOf } from '../protocol/planning';
import { modelOf } from '../protocol/rights';
import { attributesOf, type Criterion } from '../protocol/search-attributes';
import { withAttributes } from './search-attributes';

export interface StartOptions {
  /** Notes kept with the run in Temporal, encrypted if payloads are; `attach` returns them. */
  readonly memo?: Readonly<Record<string, unknown>>;
  /** Name of the key that asks, by which the run can be found. */
  readonly keyName?: string;
}

/** Where solves are started. */
interface Start {
  readonly client: Client;
  readonly taskQueue: string;
  /** What runs can be found by. */
  readonly criteria: readonly Criterion[];
}

/** Starts the workflow of a solve, whichever door asks for it, and returns its run id. @throws SearchAttributeError */
export async function launchSolve(
  { client, taskQueue, criteria }: Start,
  input: SolveInput,
  workflowId: string,
  { memo, keyName: key }: StartOptions,
): Promise<string> {
  const found = { tenant: input.tenant, key, model: modelOf(input) };
  const starting = client.workflow.start(SOLVE_WORKFLOW, {
    workflowId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    taskQueue,
    args: [input],
    memo,
    // Set at the start alone: a change under way would be a command of the workflow.
    ...(criteria.length > 0 && { typedSearchAttributes: attributesOf(found, criteria) }),
    ...startOptionsOf(input),
  });
  return (await withAttributes(client, starting)).firstExecutionRunId;
}
