import { context, propagation, trace } from '@opentelemetry/api';
import * as sdk2 from '@opentelemetry/sdk-trace-node';
import * as sdk1 from 'otel-sdk-1';

/** The two generations of OpenTelemetry's SDK that an application may have. */
export const SDKS = { '1.x': sdk1, '2.x': sdk2 };
export type SdkName = keyof typeof SDKS;

/** A span as either SDK keeps it. */
export interface KeptSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string | undefined;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Nanoseconds. */
  readonly startedAt: bigint;
  readonly failed: boolean;
}

export interface SpanKeeper {
  /** Returns the ended spans, in the order in which they began. */
  readonly spans: () => readonly KeptSpan[];
  readonly close: () => Promise<void>;
}

/** Installs an SDK for the process, as an application does, which keeps spans in memory. */
export function keepSpans(name: SdkName): SpanKeeper {
  const exporter = new SDKS[name].InMemorySpanExporter();
  const provider =
    name === '1.x'
      ? new sdk1.NodeTracerProvider({
          spanProcessors: [new sdk1.SimpleSpanProcessor(exporter as sdk1.InMemorySpanExporter)],
        })
      : new sdk2.NodeTracerProvider({
          spanProcessors: [new sdk2.SimpleSpanProcessor(exporter as sdk2.InMemorySpanExporter)],
        });
  provider.register();
  return {
    spans: () => exporter.getFinishedSpans().map(toKept).sort(byStart),
    close: async () => {
      await provider.shutdown();
      trace.disable();
      context.disable();
      propagation.disable();
    },
  };
}

function toKept(span: sdk1.ReadableSpan | sdk2.ReadableSpan): KeptSpan {
  const { name, kind, attributes, status, startTime } = span;
  const { traceId, spanId } = span.spanContext();
  const parentId = 'parentSpanContext' in span ? span.parentSpanContext?.spanId : idOfParent(span);
  const [seconds, nanoseconds] = startTime;
  const startedAt = BigInt(seconds) * 1_000_000_000n + BigInt(nanoseconds);
  return {
    name,
    kind,
    traceId,
    spanId,
    parentId,
    attributes,
    startedAt,
    failed: FAILED.includes(status.code),
  };
}

/** Status of a span that failed, by both copies of OpenTelemetry's API. */
const FAILED: readonly unknown[] = [2];

/** SDK 1.x has the id alone. */
function idOfParent(span: object): string | undefined {
  const { parentSpanId } = span as Partial<sdk1.ReadableSpan>;
  return parentSpanId;
}

function byStart(a: KeptSpan, b: KeptSpan): number {
  return Number(a.startedAt - b.startedAt);
}

export function spanNamed(name: string, spans: readonly KeptSpan[]): KeptSpan | undefined {
  return spans.find((span) => span.name === name);
}

/** Draws spans as a tree, with their failures: a line each, two blanks deeper than its parent. */
export function treeOf(spans: readonly KeptSpan[]): string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const below = (parent: string | undefined, depth: number): string[] =>
    spans
      .filter(({ parentId }) =>
        parent === undefined ? parentId === undefined || !known.has(parentId) : parentId === parent,
      )
      .flatMap((span) => [
        `${'  '.repeat(depth)}${span.name}${span.failed ? ` !${String(span.attributes['error.type'])}` : ''}`,
        ...below(span.spanId, depth + 1),
      ]);
  return below(undefined, 0);
}
