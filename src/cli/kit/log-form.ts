/** How a command that serves writes its lines: for persons, or as JSON objects for a collector of logs. */
export const LOG_FORMS = ['text', 'json'] as const;
export type LogForm = (typeof LOG_FORMS)[number];

/** What a line of JSON says besides its message. */
export interface LineFacts {
  /** @default INFO */
  readonly level?: 'TRACE' | 'DEBUG' | 'INFO' | 'WARN' | 'ERROR';
  /** ISO 8601. @default now */
  readonly time?: string;
  /** What happened alone, if the line for persons also holds the facts. */
  readonly message?: string;
  /** Id of the run, as `trace` takes it. */
  readonly runId?: string | undefined;
  /** Number of the step in its plan, from 1. */
  readonly step?: number | undefined;
  /** Number of the attempt at an activity, from 1. */
  readonly attempt?: number | undefined;
  readonly activityType?: string | undefined;
  readonly taskQueue?: string | undefined;
  /** Ids of the span that it belongs to, of 32 and 16 hex digits. */
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  /** Message of the error that was the cause. */
  readonly error?: string | undefined;
}

let form: LogForm = 'text';

/** Chooses the form of all lines of this process from now on. */
export function logAs(chosen: LogForm): void {
  form = chosen;
}

export function isLoggedAsJson(): boolean {
  return form === 'json';
}

/** Returns a line as an object whose keys stand in this order. */
export function objectOf(line: string, facts: LineFacts): object {
  const { level = 'INFO', time = new Date().toISOString(), message = line.trim(), ...others } = facts;
  return { level, time, message, ...others };
}
