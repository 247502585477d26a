import { createKey } from '../../src/gateway/access/keys';
import { settingsOf } from '../gateway/stage';
import { closedPort } from '../support/closed-port';
import { openStage, type Stage, STAGE_KEY, step } from '../support/stage';
import { TEST_KEY } from '../support/search-for-secrets';
import { type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder } from './folder';
import { type OtlpReceiver, startOtlpReceiver } from './otlp-receiver';

jest.setTimeout(240_000);

const QUESTION = 'How many legs has the ZEBRA-QUESTION?';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

let stage: Stage;
let folder: Folder;
let receiver: OtlpReceiver;
beforeEach(async () => {
  stage = await openStage();
  folder = await makeFolder();
  receiver = await startOtlpReceiver();
  const temporal = { ...stage.config.temporal, taskQueue: stage.taskQueue };
  await folder.write('conductor.yaml', { ...stage.config, temporal });
});
afterEach(async () => {
  await receiver.close();
  await stage.close();
  await folder.remove();
});

function start(args: readonly string[], more: Readonly<Record<string, string>> = {}): RunningCommand {
  const env = {
    TEMPORAL_ADDRESS: stage.temporal.address,
    [STAGE_KEY]: TEST_KEY,
    OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    ...more,
  };
  return startCommand(args, { cwd: folder.path, env });
}

test('gateway and worker send one trace, which lines of the log name; the last spans leave at the end', async () => {
  stage.plan([step('a', 'Count.')]);
  stage.providers.script('a', [
    { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } },
    'Eight.',
  ]);
  const { secret } = await createKey(stage.store, settingsOf());
  const worker = start(['worker', '--trust', '--log-format', 'json']);
  await worker.hear(/"message":"Ready/);
  const gateway = start(['gateway', '--port', String(await closedPort())]);
  const [, url] = await gateway.hear(/Gateway +(http:\S+)\/v1/);
  const answered = await fetch(`${url ?? ''}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      traceparent: `00-${TRACE}-${CALLER}-01`,
    },
    body: JSON.stringify({ model: 'conductor', messages: [{ role: 'user', content: QUESTION }] }),
  });
  expect(await answered.json()).toMatchObject({ choices: [{ message: { content: 'Eight.' } }] });
  await gateway.end('SIGTERM');
  const { stderr } = await worker.end('SIGTERM');

  const { spans } = receiver;
  const [whole] = spans.filter(({ service }) => service === 'temporal-conductor-gateway');
  expect(whole).toMatchObject({ name: 'invoke_workflow conductor', parentSpanId: CALLER });
  const calls = spans.filter(({ service }) => service === 'temporal-conductor-worker');
  expect(calls.map(({ name }) => name).sort()).toEqual([
    'chat a',
    'chat a',
    'chat conductor',
    'invoke_agent a',
    'invoke_agent a',
    'plan conductor',
  ]);
  const tops = calls.filter(({ name }) => !name.startsWith('chat'));
  expect(tops.map(({ parentSpanId }) => parentSpanId)).toEqual(tops.map(() => whole?.spanId));
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([TRACE]));
  expect(JSON.stringify(spans)).not.toMatch(/zebra/i);
  const failed = stderr.split('\n').find((line) => line.includes('"message":"Activity failed"')) ?? '';
  const { traceId, spanId } = JSON.parse(failed) as Record<string, unknown>;
  expect(traceId).toBe(TRACE);
  expect(calls.filter(({ name }) => name === 'chat a').map((span) => span.spanId)).toContain(spanId);
});

/** Hides a package from a program, as if it had not been installed. */
function without(name: string): string {
  const hook =
    `export function resolve(asked, context, next) { if (asked === '${name}') throw Object.assign(` +
    `new Error('no such package'), { code: 'ERR_MODULE_NOT_FOUND' }); return next(asked, context); }`;
  const from = `data:text/javascript,${encodeURIComponent(hook)}`;
  const register = `import { register } from 'node:module'; register(${JSON.stringify(from)});`;
  return `--import=data:text/javascript,${encodeURIComponent(register)}`;
}

test.each<[string, Readonly<Record<string, string>>, string]>([
  [
    'no SDK',
    { NODE_OPTIONS: without('@opentelemetry/sdk-node') },
    'OTEL_EXPORTER_OTLP_ENDPOINT is set, but no spans are sent: that needs a package: run "npm install ' +
      '@opentelemetry/sdk-node@0.223 @opentelemetry/api@1.9"',
  ],
  ['an SDK that is turned off', { OTEL_SDK_DISABLED: 'true' }, 'No spans are sent: OTEL_SDK_DISABLED or'],
  [
    'an address without a host',
    { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://:4317', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    "No spans are sent, since OpenTelemetry's SDK does not start (Invalid URL): correct OTEL_EXPORTER_OTLP_ENDPOINT",
  ],
])('a worker with %s says so, and works', async (_, env, sentence) => {
  stage.plan([step('a', 'Count.')]);
  const worker = start(['worker', '--trust'], env);
  await worker.hear(/Ready/);
  expect(await stage.client.solve({ question: QUESTION })).toMatchObject({ status: 'completed' });
  const { stderr } = await worker.end('SIGTERM');
  expect(stderr).toContain(sentence);
  expect(receiver.spans).toEqual([]);
});

test('a receiver that is away costs a worker no call and no more time than its end has', async () => {
  stage.plan([step('a', 'Count.')]);
  const worker = start(['worker', '--trust'], { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  await worker.hear(/Ready/);
  expect(await stage.client.solve({ question: QUESTION })).toMatchObject({ status: 'completed' });
  expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
});
