import { once } from 'node:events';
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { parse } from 'protobufjs';
import { z } from 'zod';
import { listen } from '../../src/network/listen';

/** What this receiver reads of OTLP 1.x (https://opentelemetry.io/docs/specs/otlp), by the numbers of its fields. */
const { root } = parse(`
  syntax = "proto3";
  message Export { repeated ResourceSpans resource_spans = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ScopeSpans { repeated Span spans = 2; }
  message Span {
    bytes trace_id = 1;
    bytes span_id = 2;
    bytes parent_span_id = 4;
    string name = 5;
    repeated KeyValue attributes = 9;
  }
  message KeyValue { string key = 1; Value value = 2; }
  message Values { repeated Value values = 1; }
  message Value {
    oneof value {
      string string_value = 1;
      bool bool_value = 2;
      int64 int_value = 3;
      double double_value = 4;
      Values array_value = 5;
    }
  }
`);
const Export = root.lookupType('Export');

const idSchema = z.instanceof(Uint8Array).transform((bytes) => Buffer.from(bytes).toString('hex'));
const valueSchema = z.looseObject({ stringValue: z.string().optional() });
const attributesSchema = z.array(z.object({ key: z.string(), value: valueSchema }));
const spanSchema = z.object({
  name: z.string(),
  traceId: idSchema,
  spanId: idSchema,
  parentSpanId: idSchema,
  attributes: attributesSchema,
});
const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(z.object({ spans: z.array(spanSchema) })),
    }),
  ),
});

/** A span that a process sent, with the name of its service. */
export type ReceivedSpan = z.output<typeof spanSchema> & { readonly service: string | undefined };

export interface OtlpReceiver {
  readonly url: string;
  readonly spans: ReceivedSpan[];
  readonly close: () => Promise<void>;
}

const PROTOBUF = 'application/x-protobuf';

/** Starts what a collector is to an exporter: it takes spans by OTLP over HTTP, in protobuf, exporters' default. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      if (request.url !== '/v1/traces' || request.headers['content-type'] !== PROTOBUF) {
        response.writeHead(415).end();
        return;
      }
      for (const { resource, scopeSpans } of read(body).resourceSpans) {
        const service = resource.attributes.find(({ key }) => key === 'service.name')?.value.stringValue;
        spans.push(...scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, service }))));
      }
      // An answer without fields: all were taken.
      response.writeHead(200, { 'content-type': PROTOBUF }).end();
    })();
  });
  const { url } = await listen(server, 0, '127.0.0.1');
  const close = async (): Promise<void> => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  return { url, spans, close };
}

function read(body: Uint8Array): z.output<typeof exportSchema> {
  return exportSchema.parse(Export.toObject(Export.decode(body), { arrays: true, defaults: false }));
}
