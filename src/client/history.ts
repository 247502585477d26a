import type { Client, WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import {
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
  extstoreInboundOptions,
  visit,
  walkGetWorkflowExecutionHistoryResponse,
} from '@temporalio/common/lib/internal-non-workflow';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
export type HistoryEvent = NonNullable<History['events']>[number];
type ProtoFailure = NonNullable<NonNullable<HistoryEvent['activityTaskFailedEventAttributes']>['failure']>;

/**
 * Reads a run's history, page by page. With `follow`, waits for more until the run has ended, by a long poll that
 * needs no worker and is no billed Action.
 *
 * @throws what the server answers, e.g. WorkflowNotFoundError's gRPC status for an unknown id
 */
export async function* readHistory(
  client: Client,
  execution: { workflowId: string; runId?: string },
  follow: boolean,
): AsyncGenerator<HistoryEvent[]> {
  let nextPageToken: Uint8Array = new Uint8Array();
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace: client.options.namespace,
      execution,
      nextPageToken,
      waitNewEvent: follow,
      skipArchival: true,
    });
    const { externalStorage } = client.options.loadedDataConverter;
    await visit(page, walkGetWorkflowExecutionHistoryResponse, extstoreInboundOptions(externalStorage));
    nextPageToken = page.nextPageToken;
    yield page.history?.events ?? [];
  } while (nextPageToken.length > 0);
}

/** Decodes what a history holds, with the client's own converter and codecs. */
export class HistoryDecoder {
  constructor(private readonly converter: LoadedDataConverter) {}

  /** The first payload, or undefined where there is none. */
  async first(payloads: { payloads?: Payload[] | null } | null | undefined): Promise<unknown> {
    if (!payloads?.payloads?.length) return undefined;
    return decodeFromPayloadsAtIndex<unknown>(this.converter, 0, payloads.payloads);
  }

  async failure(failure: ProtoFailure | null | undefined): Promise<Error> {
    const error = await decodeOptionalFailureToOptionalError(this.converter, failure);
    return error ?? new Error('no reason was given');
  }
}
