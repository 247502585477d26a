import type { Client, WorkflowHandle } from '@temporalio/client';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
// The only file that uses internals of the SDK: it has no public way to decode the payloads and failures of a history
// event by event, nor to walk over all payloads of one. `fetchHistory` decodes nothing, and reads whole histories only.
import {
  decodeArrayFromPayloads,
  decodeFromPayloadsAtIndex,
  decodeOptionalFailureToOptionalError,
  extstoreInboundOptions,
  visit,
  walkGetWorkflowExecutionHistoryResponse,
} from '@temporalio/common/lib/internal-non-workflow';
import type { ResolveRunResult } from '../protocol/activities';
import type { ResolvedRun } from '../protocol/run';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
export type TemporalEvent = NonNullable<History['events']>[number];
type ProtoFailure = NonNullable<TemporalEvent['activityTaskFailedEventAttributes']>['failure'];

/**
 * Reads a run's history, page by page. With `follow`, waits for more until the run has ended, by a long poll that
 * needs no worker and is no billed Action.
 *
 * @throws what the server answers, e.g. gRPC's NOT_FOUND for an unknown id
 */
export async function* readHistory(
  client: Client,
  execution: { workflowId: string; runId?: string },
  follow: boolean,
): AsyncGenerator<TemporalEvent[]> {
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

/** Every payload that events of a history hold, as it is there. */
export async function payloadsIn(events: TemporalEvent[]): Promise<Payload[]> {
  const found: Payload[] = [];
  const take = <Taken extends Payload | Payload[]>(taken: Taken): Promise<Taken> => {
    found.push(...[taken].flat());
    return Promise.resolve(taken);
  };
  await visit({ history: { events } }, walkGetWorkflowExecutionHistoryResponse, {
    transformPayload: take,
    transformPayloads: take,
    // The server indexes them, so no codec has touched them.
    skipSearchAttributes: true,
  });
  return found;
}

/** Decodes what a history holds, with the client's own converter and codecs. */
export class HistoryDecoder {
  constructor(private readonly converter: LoadedDataConverter) {}

  payload(payload: Payload): Promise<unknown> {
    return decodeArrayFromPayloads(this.converter, [payload]);
  }

  /** The first payload, or undefined where there is none. */
  async first(payloads: { payloads?: Payload[] | null } | null | undefined): Promise<unknown> {
    if (!payloads?.payloads?.length) return undefined;
    return decodeFromPayloadsAtIndex<unknown>(this.converter, 0, payloads.payloads);
  }

  async failure(failure: ProtoFailure): Promise<Error> {
    const error = await decodeOptionalFailureToOptionalError(this.converter, failure);
    return error ?? new Error('no reason was given');
  }
}

/** When an event happened, ISO 8601 in UTC. */
export function timeOf({ eventTime }: TemporalEvent): string {
  const milliseconds = Number(eventTime?.seconds ?? 0) * 1000 + (eventTime?.nanos ?? 0) / 1e6;
  return new Date(milliseconds).toISOString();
}

/**
 * What a history event means for a run, decoded. A call is an activity or a child workflow; its name here is the id of
 * the event that started it.
 */
export type HistoryEvent =
  | { readonly kind: 'run-started'; readonly runId: string; readonly input: unknown }
  | { readonly kind: 'run-resolved'; readonly run: ResolvedRun }
  | {
      readonly kind: 'call-started';
      readonly call: string;
      readonly type: string;
      readonly input: unknown;
      /** Workflow id, where it is a child workflow. */
      readonly childId: string | null;
    }
  | { readonly kind: 'call-succeeded'; readonly call: string; readonly result: unknown }
  | { readonly kind: 'call-failed'; readonly call: string; readonly error: Error }
  /** A message was accepted that changes something. */
  | { readonly kind: 'updated'; readonly name: string; readonly input: unknown }
  | { readonly kind: 'run-completed'; readonly result: unknown }
  | { readonly kind: 'run-failed'; readonly error: Error }
  | { readonly kind: 'run-cancelled' };

type Read<Attributes> = (
  attributes: NonNullable<Attributes>,
  decoder: HistoryDecoder,
  eventId: string,
) => HistoryEvent | null | Promise<HistoryEvent | null>;

/** Reads an event; null for one that means nothing to a trace. */
export async function readHistoryEvent(
  event: TemporalEvent,
  decoder: HistoryDecoder,
): Promise<HistoryEvent | null> {
  for (const [name, read] of Object.entries(READERS)) {
    const attributes = event[name as keyof typeof READERS];
    // The compiler does not see that the two belong together.
    if (attributes) return (read as Read<unknown>)(attributes, decoder, String(event.eventId));
  }
  return null;
}

const READERS = {
  workflowExecutionStartedEventAttributes: async ({ originalExecutionRunId, input }, decoder) => ({
    kind: 'run-started',
    runId: originalExecutionRunId ?? '',
    input: await decoder.first(input),
  }),
  workflowExecutionUpdateAcceptedEventAttributes: async ({ acceptedRequest }, decoder) => {
    const input = acceptedRequest?.input;
    return input ? { kind: 'updated', name: input.name ?? '', input: await decoder.first(input.args) } : null;
  },
  // The local activities of a solve: the SDK records in a marker what they returned. The check of a given run returns nothing.
  markerRecordedEventAttributes: async ({ markerName, failure, details }, decoder) => {
    if (markerName !== 'core_local_activity' || failure) return null;
    const resolved = (await decoder.first(details?.result)) as ResolveRunResult | undefined;
    return resolved ? { kind: 'run-resolved', run: resolved.run } : null;
  },
  activityTaskScheduledEventAttributes: async ({ activityType, input }, decoder, call) => ({
    kind: 'call-started',
    call,
    type: activityType?.name ?? '',
    childId: null,
    input: await decoder.first(input),
  }),
  startChildWorkflowExecutionInitiatedEventAttributes: async (child, decoder, call) => ({
    kind: 'call-started',
    call,
    type: child.workflowType?.name ?? '',
    childId: child.workflowId ?? null,
    input: await decoder.first(child.input),
  }),
  activityTaskCompletedEventAttributes: async ({ scheduledEventId: call, result }, decoder) =>
    succeeded(call, await decoder.first(result)),
  childWorkflowExecutionCompletedEventAttributes: async ({ initiatedEventId: call, result }, decoder) =>
    succeeded(call, await decoder.first(result)),
  activityTaskFailedEventAttributes: async ({ scheduledEventId: call, failure }, decoder) =>
    failed(call, await decoder.failure(failure)),
  activityTaskTimedOutEventAttributes: async ({ scheduledEventId: call, failure }, decoder) =>
    failed(call, await decoder.failure(failure)),
  childWorkflowExecutionFailedEventAttributes: async ({ initiatedEventId: call, failure }, decoder) =>
    failed(call, await decoder.failure(failure)),
  childWorkflowExecutionTerminatedEventAttributes: ({ initiatedEventId: call }) =>
    failed(call, new Error('the child was terminated')),
  childWorkflowExecutionCanceledEventAttributes: ({ initiatedEventId: call }) =>
    failed(call, new Error('the child was cancelled')),
  childWorkflowExecutionTimedOutEventAttributes: ({ initiatedEventId: call }) =>
    failed(call, new Error('the child exceeded its time-out')),
  workflowExecutionCompletedEventAttributes: async ({ result }, decoder) => ({
    kind: 'run-completed',
    result: await decoder.first(result),
  }),
  workflowExecutionFailedEventAttributes: async ({ failure }, decoder) =>
    runFailed(await decoder.failure(failure)),
  workflowExecutionTerminatedEventAttributes: ({ reason }) =>
    runFailed(new Error(`terminated: ${reason ?? ''}`)),
  workflowExecutionTimedOutEventAttributes: () =>
    runFailed(new Error('the run exceeded the time-out it was started with')),
  workflowExecutionCanceledEventAttributes: () => ({ kind: 'run-cancelled' }),
} satisfies { [Name in keyof TemporalEvent]?: Read<TemporalEvent[Name]> };

function succeeded(call: unknown, result: unknown): HistoryEvent {
  return { kind: 'call-succeeded', call: String(call), result };
}

function failed(call: unknown, error: Error): HistoryEvent {
  return { kind: 'call-failed', call: String(call), error };
}

function runFailed(error: Error): HistoryEvent {
  return { kind: 'run-failed', error };
}
