import type { Client, WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
// The only file that uses internals of the SDK: it has no public way to decode the payloads and failures of a history
// event by event, or to visit all payloads of an event. `fetchHistory` decodes nothing, and reads only whole histories.
import {
  decodeArrayFromPayloads,
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
  extstoreInboundOptions,
  visit,
  walkGetWorkflowExecutionHistoryResponse,
} from '@temporalio/common/lib/internal-non-workflow';
import { unlessAborted } from '../runtime/turns';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
type Page = Awaited<ReturnType<Client['workflowService']['getWorkflowExecutionHistory']>>;
export type TemporalEvent = NonNullable<History['events']>[number];
export type Payloads = { payloads?: Payload[] | null } | null | undefined;
export type ProtoFailure = NonNullable<TemporalEvent['activityTaskFailedEventAttributes']>['failure'];

/**
 * Reads a run's history, page by page, without a worker or a billed Action.
 * @param following follows the run until it ends, or throws once this is aborted; null: reads what there is now
 */
export async function* readHistory(
  client: Client,
  execution: { workflowId: string; runId?: string },
  following: AbortSignal | null,
): AsyncGenerator<TemporalEvent[]> {
  const { workflowService, options } = client;
  const { namespace } = options;
  const { workflowExecutionInfo } = await workflowService.describeWorkflowExecution({ namespace, execution });
  const isLong = Number(workflowExecutionInfo?.historySizeBytes ?? 0) > PAGE_BYTES;
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const request = {
      namespace,
      execution,
      nextPageToken,
      // Without a limit, pages are cut by the number of events only, however large these are.
      maximumPageSize: isLong ? 1 : 0,
      waitNewEvent: following !== null,
      skipArchival: true,
    };
    const ask = (): Promise<Page> => workflowService.getWorkflowExecutionHistory(request);
    const page = await (following ? endedBy(following, client, ask) : ask());
    const { externalStorage } = options.loadedDataConverter;
    await visit(page, walkGetWorkflowExecutionHistoryResponse, extstoreInboundOptions(externalStorage));
    nextPageToken = page.nextPageToken;
    yield page.history?.events ?? [];
  } while (nextPageToken.length > 0);
}

/**
 * Makes a call that ends when the signal is aborted. The SDK leaves a listener on the signal that it is given, and
 * with it all that the call holds, so each call has its own. A native connection ignores the signal; its call is left
 * to the server, which ends it soon.
 */
async function endedBy<Answer>(
  signal: AbortSignal,
  client: Client,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  signal.throwIfAborted();
  const own = new AbortController();
  try {
    return await unlessAborted(signal, client.withAbortSignal(own.signal, ask));
  } finally {
    if (signal.aborted) own.abort(signal.reason);
  }
}

/** Size that stays below the 4 MB that a connection accepts by default, with what gRPC and the server add. */
const PAGE_BYTES = 3_000_000;

/** Returns every payload in the events of a history, undecoded. */
export async function payloadsIn(events: TemporalEvent[]): Promise<Payload[]> {
  const found: Payload[] = [];
  const take = <Taken extends Payload | Payload[]>(taken: Taken): Promise<Taken> => {
    found.push(...[taken].flat());
    return Promise.resolve(taken);
  };
  await visit({ history: { events } }, walkGetWorkflowExecutionHistoryResponse, {
    transformPayload: take,
    transformPayloads: take,
    // The server indexes search attributes, so no codec has encoded them.
    skipSearchAttributes: true,
  });
  return found;
}

export class HistoryDecoder {
  constructor(private readonly converter: LoadedDataConverter) {}

  payload(payload: Payload): Promise<unknown> {
    return decodeArrayFromPayloads(this.converter, [payload]);
  }

  async all(payloads: Payloads): Promise<unknown[]> {
    return decodeArrayFromPayloads(this.converter, payloads?.payloads);
  }

  async first(payloads: Payloads): Promise<unknown> {
    if (!payloads?.payloads?.length) return undefined;
    return decodeFromPayloadsAtIndex<unknown>(this.converter, 0, payloads.payloads);
  }

  async failure(failure: ProtoFailure): Promise<Error> {
    const error = await decodeOptionalFailureToOptionalError(this.converter, failure);
    return error ?? new Error('no reason was given');
  }
}

export function timeOf({ eventTime }: TemporalEvent): string {
  return isoTime(eventTime);
}

/** Rounds down to milliseconds, as a workflow's clock does. */
export function isoTime(time: TemporalEvent['eventTime']): string {
  const milliseconds = Number(time?.seconds ?? 0) * 1000 + Math.floor((time?.nanos ?? 0) / 1e6);
  return new Date(milliseconds).toISOString();
}
