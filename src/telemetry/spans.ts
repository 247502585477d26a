import type * as OpenTelemetry from '@opentelemetry/api';
import type { Attributes, Context, Span, SpanContext, Tracer } from '@opentelemetry/api';
import { readVersion } from '../runtime/version';
import { ATTRIBUTES, OTHER_ERROR } from './names';
import { spanNamedBy, traceparentOf } from './parent';

type Api = typeof OpenTelemetry;

/** What a span is about, as a sampler sees it. */
export interface SpanStart {
  readonly name: string;
  /** Whether it is a request to another process. @default false */
  readonly isRequest?: boolean;
  readonly attributes: Attributes;
  /** Unix time in milliseconds of what is told after it ended. @default now */
  readonly startedAt?: number;
}

export interface SpanEnd {
  readonly attributes?: Attributes;
  /** Type of the failure that it ended with, never a message: those may quote a question. */
  readonly error?: string | undefined;
  /** Unix time in milliseconds. @default now */
  readonly endedAt?: number;
}

/** Ids by which a log line names a span. */
export type SpanIds = Pick<SpanContext, 'traceId' | 'spanId'>;

/** A span under way, in the trace of the application's own provider. */
export class OpenSpan {
  private isOver = false;

  private constructor(
    private readonly api: Api,
    private readonly tracer: Tracer,
    private readonly span: Span,
    private readonly context: Context,
  ) {}

  /**
   * Starts a span below the active one, else below the given parent; a new trace if there is neither. Returns null
   * without OpenTelemetry's API or a global provider, which are the application's to install.
   */
  static async start(start: SpanStart, parent: SpanContext | null): Promise<OpenSpan | null> {
    const loaded = await openApi();
    const tracer = loaded && tracerOf(loaded);
    if (loaded === null || tracer === null) return null;
    const { api } = loaded;
    const active = api.context.active();
    const isWithin = parent === null || api.trace.getSpan(active) !== undefined;
    const context = isWithin ? active : api.trace.setSpanContext(active, parent);
    return OpenSpan.begin(api, tracer, start, context);
  }

  private static begin(api: Api, tracer: Tracer, start: SpanStart, context: Context): OpenSpan | null {
    const { name, isRequest = false, attributes, startedAt: startTime } = start;
    const kind = isRequest ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL;
    const timed = { kind, attributes, ...(startTime !== undefined && { startTime }) };
    const span = unlessBroken(() => tracer.startSpan(name, timed, context));
    return span === null ? null : new OpenSpan(api, tracer, span, api.trace.setSpan(context, span));
  }

  startChild(start: SpanStart): OpenSpan | null {
    return OpenSpan.begin(this.api, this.tracer, start, this.context);
  }

  get ids(): SpanIds {
    const { traceId, spanId } = this.span.spanContext();
    return { traceId, spanId };
  }

  get traceparent(): string {
    return traceparentOf(this.span.spanContext());
  }

  /** Runs work with the span as the active one, so that the application's other instrumentation hangs below it. */
  during<Result>(work: () => Result): Result {
    return this.api.context.with(this.context, work);
  }

  /** Ends the span; a second end changes nothing. */
  end({ attributes = {}, error, endedAt }: SpanEnd = {}): void {
    if (this.isOver) return;
    this.isOver = true;
    const { span, api } = this;
    unlessBroken(() => {
      span.setAttributes(attributes);
      if (error !== undefined) {
        span.setAttribute(ATTRIBUTES.error, error === '' ? OTHER_ERROR : error);
        span.setStatus({ code: api.SpanStatusCode.ERROR });
      }
      span.end(endedAt);
    });
  }
}

/** Returns the `traceparent` of the active span; undefined: there is none. */
export async function activeTraceparent(): Promise<string | undefined> {
  const context = (await openApi())?.api.trace.getActiveSpan()?.spanContext();
  const named = context && traceparentOf(context);
  return spanNamedBy(named) === null ? undefined : named;
}

/** Whether spans reach a provider: one that another copy of the API registered may be out of this copy's sight. */
export async function isTraced(): Promise<boolean> {
  const loaded = await openApi();
  return loaded !== null && tracerOf(loaded) !== null;
}

const ofActivities = new WeakMap<object, SpanIds>();

/** Remembers the span of an activity for its log lines, of which some come after its end. */
export function noteSpan(activity: object, { ids }: OpenSpan): void {
  ofActivities.set(activity, ids);
}

export function spanIdsOf(activity: object): SpanIds | undefined {
  return ofActivities.get(activity);
}

const SCOPE = 'temporal-conductor';

interface Loaded {
  readonly api: Api;
  /** This package's version. */
  readonly version: string;
}

let opening: Promise<Loaded | null> | null = null;

/** Loads the application's copy of the API on first use. */
function openApi(): Promise<Loaded | null> {
  opening ??= import('@opentelemetry/api').then(
    (api) => ({ api, version: readVersion() }),
    () => null,
  );
  return opening;
}

/** Returns null without a provider: to describe a span for nobody would cost each call. */
function tracerOf({ api: { trace, ProxyTracerProvider }, version }: Loaded): Tracer | null {
  const provider = trace.getTracerProvider();
  const isNobody = provider instanceof ProxyTracerProvider && provider.getDelegateTracer(SCOPE) === undefined;
  return isNobody ? null : unlessBroken(() => provider.getTracer(SCOPE, version));
}

/** A provider or processor that throws must not fail a paid call. */
function unlessBroken<Result>(work: () => Result): Result | null {
  try {
    return work();
  } catch {
    return null;
  }
}
