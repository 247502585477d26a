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
import type { ResolvedRun } from '../protocol/run';
import type { ResolveRunResult } from '../protocol/activities';

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>;
export type TemporalEvent = NonNullable<History['events']>[number];
type ProtoFailure = NonNullable<NonNullable<TemporalEvent['activityTaskFailedEventAttributes']>['failure']>;

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

  async failure(failure: ProtoFailure | null | undefined): Promise<Error> {
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

/** Reads an event; null for one that means nothing to a trace. */
export async function readHistoryEvent(
  event: TemporalEvent,
  decoder: HistoryDecoder,
): Promise<HistoryEvent | null> {
  return (
    (await readMessage(event, decoder)) ??
    (await readResolved(event, decoder)) ??
    (await readCall(event, decoder)) ??
    (await readSuccess(event, decoder)) ??
    (await readFailure(event, decoder)) ??
    (await readEnd(event, decoder))
  );
}

async function readMessage(event: TemporalEvent, decoder: HistoryDecoder): Promise<HistoryEvent | null> {
  const run = event.workflowExecutionStartedEventAttributes;
  if (run) {
    return {
      kind: 'run-started',
      runId: run.originalExecutionRunId ?? '',
      input: await decoder.first(run.input),
    };
  }
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
  if (update) return { kind: 'updated', name: update.name ?? '', input: await decoder.first(update.args) };
  return null;
}

/** The one local activity of a solve: the SDK records in a marker what it returned. */
async function readResolved(event: TemporalEvent, decoder: HistoryDecoder): Promise<HistoryEvent | null> {
  const marker = event.markerRecordedEventAttributes;
  if (marker?.markerName !== 'core_local_activity' || marker.failure) return null;
  const { run } = (await decoder.first(marker.details?.result)) as ResolveRunResult;
  return { kind: 'run-resolved', run };
}

async function readCall(event: TemporalEvent, decoder: HistoryDecoder): Promise<HistoryEvent | null> {
  const call = String(event.eventId);
  const activity = event.activityTaskScheduledEventAttributes;
  if (activity) {
    const input = await decoder.first(activity.input);
    return { kind: 'call-started', call, type: activity.activityType?.name ?? '', childId: null, input };
  }
  const child = event.startChildWorkflowExecutionInitiatedEventAttributes;
  if (!child) return null;
  const [type, childId] = [child.workflowType?.name ?? '', child.workflowId ?? null];
  return { kind: 'call-started', call, type, childId, input: await decoder.first(child.input) };
}

async function readSuccess(event: TemporalEvent, decoder: HistoryDecoder): Promise<HistoryEvent | null> {
  const activity = event.activityTaskCompletedEventAttributes;
  const child = event.childWorkflowExecutionCompletedEventAttributes;
  const done = activity ?? child;
  if (!done) return null;
  const call = String(activity?.scheduledEventId ?? child?.initiatedEventId);
  return { kind: 'call-succeeded', call, result: await decoder.first(done.result) };
}

async function readFailure(event: TemporalEvent, decoder: HistoryDecoder): Promise<HistoryEvent | null> {
  const activity = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes;
  const child = event.childWorkflowExecutionFailedEventAttributes;
  const failed = activity ?? child;
  if (failed) {
    const call = String(activity?.scheduledEventId ?? child?.initiatedEventId);
    return { kind: 'call-failed', call, error: await decoder.failure(failed.failure) };
  }
  // A child that left no failure of its own.
  const ends = {
    'was terminated': event.childWorkflowExecutionTerminatedEventAttributes,
    'was cancelled': event.childWorkflowExecutionCanceledEventAttributes,
    'exceeded its time-out': event.childWorkflowExecutionTimedOutEventAttributes,
  };
  for (const [how, end] of Object.entries(ends)) {
    const error = new Error(`the child ${how}`);
    if (end) return { kind: 'call-failed', call: String(end.initiatedEventId), error };
  }
  return null;
}

async function readEnd(event: TemporalEvent, decoder: HistoryDecoder): Promise<HistoryEvent | null> {
  const completed = event.workflowExecutionCompletedEventAttributes;
  if (completed) return { kind: 'run-completed', result: await decoder.first(completed.result) };
  const failed = event.workflowExecutionFailedEventAttributes;
  if (failed) return { kind: 'run-failed', error: await decoder.failure(failed.failure) };
  const terminated = event.workflowExecutionTerminatedEventAttributes;
  if (terminated) return { kind: 'run-failed', error: new Error(`terminated: ${terminated.reason ?? ''}`) };
  if (event.workflowExecutionTimedOutEventAttributes) {
    return { kind: 'run-failed', error: new Error('the run exceeded the time-out it was started with') };
  }
  return event.workflowExecutionCanceledEventAttributes ? { kind: 'run-cancelled' } : null;
}
