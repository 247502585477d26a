import type { Client } from '@temporalio/client';
import type { Payload } from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  visit,
  walkGetWorkflowExecutionHistoryResponse,
} from '@temporalio/common/lib/internal-non-workflow';
import { SOLVE_WORKFLOW } from '../protocol/names';
import { eachInParallel } from '../store/each-in-parallel';
import { refsIn } from '../store/texts';
import { readHistory, type HistoryEvent } from './history';
import { isNotFound } from './not-found';

/** The runs that a Temporal server still holds, open ones and those within retention, children and all. */
export interface HeldRuns {
  readonly runIds: ReadonlySet<string>;
  /** Every text in the store that one of their histories names. */
  readonly refs: ReadonlySet<string>;
}

interface Run {
  readonly workflowId: string;
  readonly runId: string;
  readonly type: string;
}

/** How long a run that was started may stay out of the server's lists, generously. */
const LISTED_WITHIN_MS = 10 * 60 * 1000;

/**
 * Reads the history of every run in the client's namespace, by the client's own converter. Every run: a workflow that
 * has nothing to do with us but started a solve holds its answer, too.
 *
 * @throws Error that names the run where a history of ours cannot be read
 */
export async function findHeldRuns(client: Client): Promise<HeldRuns> {
  const runIds = new Set<string>();
  const refs = new Set<string>();
  const read = async (run: Run): Promise<void> => {
    if (runIds.has(run.runId)) return;
    runIds.add(run.runId);
    for await (const ref of refsOfRun(client, run)) refs.add(ref);
  };

  const begun = new Date(Date.now() - LISTED_WITHIN_MS).toISOString();
  await eachInParallel(listRuns(client, ''), read);
  // Those that began meanwhile, or had begun and were not listed yet.
  await eachInParallel(listRuns(client, `StartTime >= '${begun}'`), read);
  return { runIds, refs };
}

async function* listRuns(client: Client, query: string): AsyncGenerator<Run> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await client.workflowService.listWorkflowExecutions({
      namespace: client.options.namespace,
      pageSize: 1000,
      nextPageToken,
      query,
    });
    nextPageToken = page.nextPageToken;
    for (const { execution, type } of page.executions) {
      yield {
        workflowId: execution?.workflowId ?? '',
        runId: execution?.runId ?? '',
        type: type?.name ?? '',
      };
    }
  } while (nextPageToken.length > 0);
}

async function* refsOfRun(client: Client, run: Run): AsyncGenerator<string> {
  try {
    for await (const events of readHistory(client, run, false)) {
      for (const payload of await payloadsIn(events)) yield* refsIn(await decode(client, run, payload));
    }
  } catch (error) {
    // Its retention ended while we read.
    if (!isNotFound(error)) throw error;
  }
}

async function payloadsIn(events: HistoryEvent[]): Promise<Payload[]> {
  const found: Payload[] = [];
  await visit({ history: { events } }, walkGetWorkflowExecutionHistoryResponse, {
    transformPayload: (payload) => {
      found.push(payload);
      return Promise.resolve(payload);
    },
    transformPayloads: (payloads) => {
      found.push(...payloads);
      return Promise.resolve(payloads);
    },
    // The server indexes them, so no codec has touched them.
    skipSearchAttributes: true,
  });
  return found;
}

/**
 * The value of a payload. One that cannot be read may hold anything: in a run of ours that ends the search; another
 * workflow's may be of another team's codec, and is searched as it is.
 */
async function decode(client: Client, { workflowId, type }: Run, payload: Payload): Promise<unknown> {
  try {
    return await decodeArrayFromPayloads(client.options.loadedDataConverter, [payload]);
  } catch (error) {
    if (type !== SOLVE_WORKFLOW) return Buffer.from(payload.data ?? []).toString('latin1');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the history of run ${workflowId} cannot be read (${reason}), so nobody knows which texts it needs, and nothing was removed: ` +
        'use the data converter that its worker uses',
      { cause: error },
    );
  }
}
