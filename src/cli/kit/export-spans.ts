import { needsPackages, reasonOf } from '../../errors';
import { within } from '../../runtime/turns';
import { isTraced } from '../../telemetry/spans';
import { say } from './terminal';

/** Time for the last spans to be sent, within that which Kubernetes gives a process to end. */
const FLUSH_MS = 3_000;

/** OpenTelemetry's variables that say where spans go. */
const ENDPOINTS = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const;

/**
 * Exports this process's spans by OpenTelemetry's SDK, which its own variables configure, if one of them says where to.
 * Metrics go another way. Spans are worth no failure: whatever prevents them is told, and the command goes on. Returns a
 * function that sends the last spans.
 * @param service name of the process, unless `OTEL_SERVICE_NAME` has one
 */
export async function exportSpans(service: string): Promise<() => Promise<void>> {
  const { env } = process;
  const named = ENDPOINTS.find((name) => (env[name] ?? '') !== '');
  // A module that was loaded before this program may have installed the SDK.
  if (named === undefined || (await isTraced())) return nothingLeft;
  const sdk = await import('@opentelemetry/sdk-node').catch(() => null);
  if (sdk === null) {
    const what = `${named} is set, but no spans are sent: that`;
    say(needsPackages(what, ['@opentelemetry/sdk-node@0.223', '@opentelemetry/api@1.9']), { level: 'WARN' });
    return nothingLeft;
  }
  const serviceName = env.OTEL_SERVICE_NAME ?? `temporal-conductor-${service}`;
  const running = new sdk.NodeSDK({ serviceName, metricReaders: [], logRecordProcessors: [] });
  try {
    running.start();
  } catch (error) {
    const remedy = `correct ${named}, e.g. http://127.0.0.1:4318, or OTEL_EXPORTER_OTLP_PROTOCOL`;
    say(`No spans are sent, since OpenTelemetry's SDK does not start (${reasonOf(error)}): ${remedy}`, {
      level: 'WARN',
    });
    return nothingLeft;
  }
  if (!(await isTraced())) say(UNSEEN, { level: 'WARN' });
  return async () => {
    await within(
      FLUSH_MS,
      running.shutdown().catch(() => undefined),
    );
  };
}

const UNSEEN =
  'No spans are sent: OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER turns them off, or there is a newer @opentelemetry/api ' +
  'than that of @opentelemetry/sdk-node (see "npm ls @opentelemetry/api"): install the version that the SDK asks for';

function nothingLeft(): Promise<void> {
  return Promise.resolve();
}
