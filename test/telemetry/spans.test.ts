import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { trace as oldApi } from '@opentelemetry/api';
import { trace as newApi } from 'otel-api-1.10';
import * as sdk from '@opentelemetry/sdk-trace-node';
import { ConductorPlugin } from '../../src';
import { ATTRIBUTES, vendorOf, withoutWords } from '../../src/telemetry/names';
import { spanNamedBy, spanOfRun, traceparentOf } from '../../src/telemetry/parent';
import { isTraced, OpenSpan } from '../../src/telemetry/spans';
import { step, useStage } from '../support/stage';

const VARIABLE = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';
const START = { name: 'a span', attributes: {} };

const stage = useStage();
afterEach(() => {
  oldApi.disable();
  newApi.disable();
  // Where all copies of the API meet; what one registers there first names the version.
  Reflect.deleteProperty(globalThis, Symbol.for('opentelemetry.js.api.1'));
  Reflect.deleteProperty(process.env, VARIABLE);
});

/** A provider whose spans throw where the API says that they must not. */
function brokenProvider(): sdk.NodeTracerProvider {
  const fail = (): never => {
    throw new Error('the exporter of this application is broken');
  };
  const processor: sdk.SpanProcessor = {
    onStart: () => undefined,
    onEnd: fail,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  };
  return new sdk.NodeTracerProvider({ spanProcessors: [processor] });
}

test('without a provider, a solve is the same and carries nothing', async () => {
  stage.plan([step('a', 'Find it.')]);
  const { id, status } = await stage.solve({ question: 'Where?' });
  expect(status).toBe('completed');
  expect(await isTraced()).toBe(false);
  const { events } = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  expect(JSON.stringify(events)).not.toContain(Buffer.from('traceparent').toString('base64').slice(0, -4));
  const inputs = (events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
    (scheduled?.input?.payloads ?? []).map(({ data }) => Buffer.from(data ?? []).toString()),
  );
  expect(inputs.join('\n')).toContain('rootId');
  expect(inputs.join('\n')).not.toContain('traceparent');
});

test('a provider that throws fails no solve', async () => {
  oldApi.setGlobalTracerProvider(brokenProvider());
  expect(await isTraced()).toBe(true);
  stage.plan([step('a', 'Find it.')]);
  expect(await stage.solve({ question: 'Where?' })).toMatchObject({ status: 'completed', degraded: false });
});

test('a provider that a newer copy of the API registered is seen', async () => {
  newApi.setGlobalTracerProvider(new sdk.NodeTracerProvider());
  expect(await isTraced()).toBe(true);
  const span = await OpenSpan.start(START, null);
  expect(spanNamedBy(span?.traceparent)).not.toBeNull();
});

test('a newer copy of the API does not see the provider of an older one, so that ours has to be the application’s', () => {
  oldApi.setGlobalTracerProvider(new sdk.NodeTracerProvider());
  const span = newApi.getTracer('ours').startSpan('a span');
  expect(span.isRecording()).toBe(false);
});

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 1],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', 0],
])('a traceparent names the span to hang below: %s', (traceparent, traceFlags) => {
  const span = spanNamedBy(traceparent);
  expect(span).toMatchObject({ traceFlags, isRemote: true, spanId: 'b7ad6b7169203331' });
  expect(span && traceparentOf(span)).toBe(traceparent);
});

test.each([
  undefined,
  '',
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  '01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
])('%s names none', (traceparent) => {
  expect(spanNamedBy(traceparent)).toBeNull();
});

test('every process derives the same parent from the id of a run, another one in another namespace', () => {
  const parent = spanOfRun('default', 'solve-1');
  expect(spanOfRun('default', 'solve-1')).toEqual(parent);
  expect(spanNamedBy(traceparentOf(parent))).toEqual(parent);
  const digest = hash('sha256', '["temporal-conductor","default","solve-1"]');
  expect(parent).toMatchObject({ traceId: digest.slice(0, 32), spanId: digest.slice(32, 48), traceFlags: 1 });
  expect(spanOfRun('other', 'solve-1').traceId).not.toBe(parent.traceId);
});

test.each([
  ['solve-what-is-the-capital-7kq2m9xw', 'solve-7kq2m9xw'],
  ['solve-what-is-7kq2m9xw-retry-ab12cd-r0s1-review', 'solve-7kq2m9xw-retry-ab12cd-r0s1-review'],
  ['solve-please-abcdefgh-review-this-7kq2m9xw', 'solve-7kq2m9xw'],
  ['solve-a-7kq2m9xw-r123s456', 'solve-7kq2m9xw-r123s456'],
  ['solve-7kq2m9xw7kq2', 'solve-7kq2m9xw7kq2'],
  ['solve-what-is-it', 'solve-what-is-it'],
  ['gw-key-what-7kq2m9xw', 'gw-key-what-7kq2m9xw'],
])('spans have the id %s as %s', (id, named) => {
  expect(withoutWords(id)).toBe(named);
});

test('an id made to hurt is read at once', () => {
  const id = `solve-${'abcdefgh-'.repeat(44_000)}!`;
  expect(withoutWords(id)).toBe(id);
});

test.each([false, true])('a field that is no traceparent is refused, traced (%s) or not', async (isThere) => {
  if (isThere) oldApi.setGlobalTracerProvider(new sdk.NodeTracerProvider());
  expect(await isTraced()).toBe(isThere);
  const { error } = await stage.solve({ question: 'Where?', traceparent: 'x'.repeat(400_000) });
  expect(error?.type).toBe('Solve.BadInput');
  expect(error?.message).toContain('expected a W3C traceparent');
  expect(error?.message.length).toBeLessThan(1_000);
});

test('the page names every attribute, and no other', () => {
  const page = readFileSync(join(__dirname, '..', '..', 'docs', 'telemetry.md'), 'utf8');
  const named = [...page.matchAll(/`((?:gen_ai|conductor|server|error)\.[a-z_.]+)`/g)].map(
    ([, name]) => name,
  );
  const names = new Set(named.filter((name) => name !== 'conductor.yaml'));
  expect([...names].sort()).toEqual(Object.values<string>(ATTRIBUTES).sort());
});

test.each([
  ['openai', null, 'openai'],
  ['openai', 'http://127.0.0.1:8000/v1', 'openai'],
  ['openai', 'https://api.deepseek.com/v1', 'deepseek'],
  ['openai', 'https://mine.openai.azure.com/openai/v1', 'azure.ai.openai'],
  ['openai', 'https://notdeepseek.com/v1', 'openai'],
  ['openai', 'no address', 'openai'],
  ['anthropic', null, 'anthropic'],
  ['google', null, 'gcp.gemini'],
  ['google', 'https://europe-west1-aiplatform.googleapis.com', 'gcp.vertex_ai'],
  ['local', null, 'local'],
  ['policy', 'http://127.0.0.1:8001/v1', 'policy'],
])('%s at %s is %s', (provider, baseUrl, vendor) => {
  expect(vendorOf(provider, baseUrl)).toBe(vendor);
});

test('the environment puts no texts on spans that the configuration encrypts, unless that says so itself', () => {
  process.env[VARIABLE] = 'span_only';
  const { store } = stage;
  const encrypted = { ...stage.config, encryption: { keyEnv: 'KEYS' } };
  expect(() => new ConductorPlugin({ config: encrypted, store })).toThrow(
    `${VARIABLE} is span_only, which puts prompts and answers on spans in plain text`,
  );
  for (const content of ['none', 'spans'] as const)
    expect(
      () => new ConductorPlugin({ config: { ...encrypted, telemetry: { content } }, store }),
    ).not.toThrow();
});
