import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DefaultLogger, Runtime, type LogEntry } from '@temporalio/worker';
import type { Say } from '../local/say';

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
