import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ActivityInterceptorsFactory,
  DefaultLogger,
  type LogEntry,
  NativeConnection,
  Runtime,
} from '@temporalio/worker';
import { z } from 'zod';
import { reasonOf, UsageError } from '../../errors';
import { remedyOfTls, type TemporalServer } from '../../local/configured-server';
import { nativelyViaProxy, proxyOfTemporal } from '../../local/temporal-route';
import { describeProxy } from '../../network/proxy';
import { makeOwnFolder, OWN_FOLDER } from '../../runtime/own-folder';
import { METRIC_BUCKETS, METRICS } from '../../telemetry/metrics';
import { spanIdsOf } from '../../telemetry/spans';
import type { LineFacts } from './log-form';
import { harmless, say } from './terminal';

/** What a process does with what Temporal's native core tells. */
export interface NativeSettings {
  /** Receives the SDK's warnings. Default: a file, since the terminal belongs to the live view. */
  readonly log?: ((line: string, facts: LineFacts) => void) | undefined;
  /** Address that answers Prometheus, as `host:port`. Default: none. */
  readonly metrics?: string | undefined;
}

/**
 * Connects through Temporal's native core, which workers need. It loads more slowly than a client's own connection, but
 * needs less CPU per call. @throws UsageError if the address for metrics cannot be used
 */
export async function connectNatively(
  server: TemporalServer,
  settings: NativeSettings,
): Promise<NativeConnection> {
  installRuntime(settings);
  return NativeConnection.connect(nativelyViaProxy(server.connection)).catch((error: unknown) => {
    const reason = reasonOf(error);
    // The native core looks for certificates in other places than Node, so it may fail where a client succeeds.
    const remedy =
      remedyOfTls(reason) ?? 'Other commands reach it: see whether it has just gone away, and try again';
    const proxy = proxyOfTemporal(server.connection);
    const through = proxy === null ? '' : ` through ${describeProxy(proxy)}`;
    const what = `this process cannot connect to Temporal at ${server.address}${through}`;
    // The native core may add its stack.
    const [why = ''] = reason.split('\n');
    throw new Error(`${what}: ${why.trim()}. ${remedy}`, { cause: error });
  });
}

/** Must precede all other use of Temporal's native core. Signals are ours: a command must stop more than its worker. */
function installRuntime({ log = sayToFile, metrics }: NativeSettings): void {
  try {
    Runtime.install({
      logger: new DefaultLogger('INFO', (entry) => {
        // At level INFO, logs only our workflows: one line for each run that ends.
        if (entry.level !== 'INFO' || entry.meta?.sdkComponent === 'workflow') tell(log, entry);
      }),
      telemetryOptions: {
        logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } },
        ...(metrics !== undefined && { metrics: { prometheus: exporterAt(metrics) } }),
      },
      shutdownSignals: [],
    });
  } catch (cause) {
    if (metrics === undefined) throw cause;
    throw new UsageError(`--metrics cannot use ${metrics} (${reasonOf(cause)}): choose another`, { cause });
  }
}

function exporterAt(bindAddress: string) {
  return {
    bindAddress,
    countersTotalSuffix: true,
    useSecondsForDurations: true,
    histogramBucketOverrides: {
      ...METRIC_BUCKETS,
      // Activities are calls of models here: the SDK's buckets end at one minute.
      temporal_activity_execution_latency: METRIC_BUCKETS[METRICS.modelCallSeconds.name] ?? [],
    },
  };
}

const LOG = join(OWN_FOLDER, 'worker.log');

let isLogLost = false;

/** A full disk loses lines of the log, and stops no run: the logger's caller could not handle an error. */
function sayToFile(line: string): void {
  try {
    makeOwnFolder(OWN_FOLDER);
    appendFileSync(LOG, `${harmless(line)}\n`, { mode: 0o600 });
  } catch (error) {
    if (!isLogLost) say(`${LOG} cannot be written (${reasonOf(error)}): what the worker reports is lost.`);
    isLogLost = true;
  }
}

const word = z.string().optional().catch(undefined);
const count = z.number().optional().catch(undefined);

/** Facts of an entry that say where it belongs. The core's own entries hold anything. */
const metaSchema = z.object({
  ...{ workflowId: word, step: count, activityType: word, attempt: count, taskQueue: word },
  ...{ traceId: word, spanId: word },
  error: z
    .string()
    .or(z.instanceof(Error).transform(({ message }) => message))
    .optional()
    .catch(undefined),
});

/** Tells an entry of the SDK's log, with its facts in the line for persons, and beside it for programs. */
function tell(
  log: NonNullable<NativeSettings['log']>,
  { level, message, timestampNanos, meta }: LogEntry,
): void {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  const { error, ...facts } = metaSchema.parse(meta ?? {});
  const named = Object.entries<string | number | undefined>(facts).flatMap(([name, value]) =>
    value === undefined ? [] : `${name}=${value}`,
  );
  const what = error === undefined ? message : `${message}: ${error}`;
  const { workflowId: runId, ...others } = facts;
  log([time, level, what, ...named].join(' '), { level, time, message, runId, ...others, error });
}

const inStepSchema = z.object({ step: z.int() });

/** Adds the step of an activity, from 1, and its span to what the SDK logs of it. */
export const placeInLog: ActivityInterceptorsFactory = (activity) => {
  let step = {};
  return {
    inbound: {
      execute: (input, next) => {
        const { data } = inStepSchema.safeParse(input.args[0]);
        if (data !== undefined) step = { step: data.step + 1 };
        return next(input);
      },
    },
    outbound: {
      getLogAttributes: (attributes, next) => next({ ...attributes, ...step, ...spanIdsOf(activity) }),
    },
  };
};
