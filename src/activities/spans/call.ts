import { Context } from '@temporalio/activity';
import type { Config } from '../../config/schema';
import { showsContent } from '../../config/span-content';
import type { WorkerRequest } from '../../protocol/activity-contract';
import type { Problem } from '../../protocol/solve';
import type { LedgerRow } from '../../store/ledger';
import { ATTRIBUTES, OPERATIONS } from '../../telemetry/names';
import { spanNamedBy, spanOfRun } from '../../telemetry/parent';
import { noteSpan, OpenSpan, type SpanEnd, type SpanStart } from '../../telemetry/spans';
import type { Ended } from '../models/failure';
import { contentOf } from './content';
import { type AskedModel, chatStart, countsOf, placeOf, settingsOf, typeOfThrown } from './describe';

/** The run that an activity works for. */
export interface OfRun extends Pick<WorkerRequest, 'rootId' | 'storeId'> {
  /** Span that the run hangs below; absent: one that all its processes derive from its id. */
  readonly traceparent?: string | undefined;
}

/**
 * Spans of one attempt at an activity: that of its work, `plan` or `invoke_agent`, and that of its request, `chat`. Both
 * begin once a ledger row is open: an attempt that asks nobody, since it waits for a rate or finds a kept answer, has none.
 */
interface Spans {
  readonly of: OfRun;
  work: OpenSpan | null;
  request: OpenSpan | null;
}

const spansOf = new WeakMap<Context, Spans>();

/** Runs an activity of a run, and ends the spans that its work began. */
export async function whileTraced<Result extends object>(
  of: OfRun,
  work: () => Promise<Result>,
): Promise<Result> {
  const spans: Spans = { of, work: null, request: null };
  spansOf.set(Context.current(), spans);
  try {
    const result = await work();
    // A reply that is no plan, though nothing failed.
    const problem = 'problem' in result ? (result.problem as Problem | null) : null;
    endAll(spans, problem?.type);
    return result;
  } catch (error) {
    endAll(spans, typeOfThrown(error));
    throw error;
  }
}

function endAll({ request, work }: Spans, error: string | undefined): void {
  request?.end({ error });
  work?.end({ error });
}

/** Starts a span below that of the run, and remembers it for the activity's log lines. */
export async function startInRun({ rootId, traceparent }: OfRun, start: SpanStart): Promise<OpenSpan | null> {
  const context = Context.current();
  const parent = spanNamedBy(traceparent) ?? spanOfRun(context.info.namespace, rootId);
  const span = await OpenSpan.start(start, parent);
  if (span !== null) noteSpan(context, span);
  return span;
}

/** Carries out work of a run within a span of its own. */
export async function whileInSpan<Result>(
  of: OfRun,
  start: SpanStart,
  work: () => Promise<Result>,
  { endOf, untyped = '' }: SpanEnding<Result> = {},
): Promise<Result> {
  const span = await startInRun(of, start);
  if (span === null) return work();
  try {
    const result = await span.during(work);
    span.end(endOf?.(result));
    return result;
  } catch (error) {
    span.end({ error: typeOfThrown(error) || untyped });
    throw error;
  }
}

/** Facts that a span tells when its work ends. */
interface SpanEnding<Result> {
  readonly endOf?: (result: Result) => SpanEnd;
  /** Type of an error that has none. */
  readonly untyped?: string;
}

/** Sends the request of an open row within its span. */
export async function whileAsking<Sent>(
  call: AskedModel,
  row: LedgerRow,
  send: () => Promise<Sent>,
): Promise<Sent> {
  const context = Context.current();
  const spans = spansOf.get(context);
  if (spans === undefined) return send();
  spans.work ??= await startInRun(spans.of, workStart(row));
  spans.request = spans.work?.startChild(chatStart(call, row)) ?? null;
  if (spans.request === null) return send();
  noteSpan(context, spans.request);
  return spans.request.during(send);
}

/** Ends the span of a request with what its row says. */
export function endAsking(
  { config, env }: { readonly config: Config; readonly env: NodeJS.ProcessEnv },
  call: AskedModel,
  ended: Ended,
  closed: LedgerRow,
): void {
  const span = spansOf.get(Context.current())?.request;
  if (span === undefined || span === null) return;
  const content = showsContent(config, env) ? contentOf(call, ended.reply) : {};
  const attributes = { ...settingsOf(call, ended.reply), ...countsOf(closed, ended.reply), ...content };
  span.end({ attributes, error: closed.error?.type });
}

/** Names the one who is asked, the Conductor or a worker. */
function workStart({ purpose, worker, ...row }: LedgerRow): SpanStart {
  const operation = purpose === 'step' ? OPERATIONS.agent : OPERATIONS.plan;
  const { rootId, workflowId, round, step } = row;
  return {
    name: `${operation} ${worker}`,
    attributes: {
      [ATTRIBUTES.operation]: operation,
      [ATTRIBUTES.agent]: worker,
      [ATTRIBUTES.purpose]: purpose,
      ...placeOf({ rootId, workflowId, round, step }),
    },
  };
}
