import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DefaultLogger, type LogEntry, type NativeConnection, Runtime, Worker } from '@temporalio/worker';
import type { TrainableConfig as Config } from '../training/config/schema';
import { encryptionConverter } from '../encryption/codec';
import type { KeyRing } from '../encryption/keys';
import type { Say } from '../local/reason-of';
import { ConductorPlugin } from '../plugin';
import { TrainingPlugin } from '../training/plugin';
import type { Store } from '../store/store';

/** Where a worker works, and how it takes its leave. */
export interface WorkerSettings {
  readonly connection: NativeConnection;
  readonly namespace: string;
  readonly config: Config;
  readonly store: Store;
  /** Where what goes to Temporal is to be encrypted. */
  readonly keys: KeyRing | undefined;
  /** True beside the embedded server, where a lost worker shall be noticed soon. */
  readonly isEmbedded: boolean;
  /** How long calls under way may go on once it was told to stop; then they are broken off. */
  readonly graceMs: number;
  /** False for one that answers for runs but leaves their calls to others. @default true */
  readonly makesCalls?: boolean;
}

/** A worker that polls. */
export interface RunningWorker {
  /** Settles when it has stopped; rejects if it broke down. */
  readonly ended: Promise<void>;
  /** Lets it finish what it can, and waits for its end. */
  stop(): Promise<void>;
}

/** After the grace, breaking off takes milliseconds; what takes longer does not listen. */
const BREAK_OFF_MS = 5_000;

/** Runs the prebuilt workflows and the activities in this process. */
export async function startWorker(settings: WorkerSettings): Promise<RunningWorker> {
  const { connection, namespace, config, store, keys, isEmbedded, graceMs, makesCalls = true } = settings;
  // A worker that only solves loads no line of training.
  const trains = config.training !== undefined || config.conductor.provider === 'policy';
  const plugin = trains ? new TrainingPlugin({ config, store }) : new ConductorPlugin({ config, store });
  const bundle = `${keys === undefined ? '' : 'encrypted-'}${trains ? 'training' : 'workflow'}-bundle.js`;
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue: config.temporal.taskQueue,
    workflowBundle: { codePath: join(__dirname, '..', bundle) },
    ...(keys && { dataConverter: encryptionConverter(keys) }),
    plugins: [plugin],
    enableNonLocalActivities: makesCalls,
    shutdownGraceTime: graceMs,
    shutdownForceTime: graceMs + BREAK_OFF_MS,
    // A run whose worker was killed is stuck for as long as its queue waits for that very worker.
    ...(isEmbedded ? { stickyQueueScheduleToStartTimeout: '2s' } : {}),
  });
  const ended = worker.run();
  // Whoever waits for it is told; until somebody does, Node shall not take it for a lost rejection.
  ended.catch(() => undefined);
  return {
    ended,
    stop: async () => {
      if (worker.getState() === 'RUNNING') worker.shutdown();
      await ended;
    },
  };
}

/**
 * Sets up Temporal's native part for this process, once and before anything else of it is used: its warnings go where
 * we say, and signals are ours, since a command has more to end than its worker.
 */
export function installRuntime(log: Say): void {
  Runtime.install({
    logger: new DefaultLogger('WARN', (entry) => {
      log(describeEntry(entry));
    }),
    telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
    shutdownSignals: [],
  });
}

/** Writes lines to a file: for a command whose terminal is taken by the live view. */
export function logTo(file: string): Say {
  return (line) => {
    // With a server elsewhere, nothing may have made the folder yet.
    mkdirSync(dirname(file), { recursive: true });
    appendFileSync(file, `${line}\n`);
  };
}

/** What tells one warning from another; the rest of an entry is for machines. */
const FACTS = ['workflowId', 'activityType', 'attempt', 'taskQueue'] as const;

function describeEntry({ level, message, timestampNanos, meta = {} }: LogEntry): string {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString();
  const facts = FACTS.flatMap((fact) => (meta[fact] === undefined ? [] : [`${fact}=${String(meta[fact])}`]));
  const error: unknown = meta.error;
  const reason = error instanceof Error ? `: ${error.message}` : '';
  return [time, level, `${message}${reason}`, ...facts].join(' ');
}
