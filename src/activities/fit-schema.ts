import { join } from 'node:path';
import { briefly } from '../plan/plan-error';
import type { AnswerSchema } from '../protocol/answer-schema';
import { HelperError, Killable, NotStartedError, startThread } from '../runtime/killable';

/** What a thread found; without a value, about the schema alone. */
export type SchemaFinding =
  | { readonly kind: 'fits' | 'too-much' }
  | { readonly kind: 'faults'; readonly faults: readonly SchemaFault[] }
  | { readonly kind: 'bad-schema' | 'not-json'; readonly reason: string }
  | { readonly kind: 'unknown-dialect'; readonly known: readonly string[] };

/** Most schema violations listed, for a model and for people. */
const MOST_FAULTS = 10;
/** Time limit for compiling a schema and applying it; no harmless one takes this long, however busy the machine is. */
const MOST_MS = 5000;
/** Memory limit of a thread: an answer may be as long as the store accepts. */
const MEMORY_MB = 256;
/** Threads of a process. One schema that does not end leaves the others to other callers. */
const MOST_THREADS = 4;

/** Plain JavaScript beside the sources: a thread loads the file as it is, in the package and in tests. */
const THREAD = join(__dirname, '../../src/activities/schema-thread.cjs');

const threads = new Killable(
  () => startThread(THREAD, MEMORY_MB),
  { startMs: 60_000, answerMs: MOST_MS },
  MOST_THREADS,
);

/** Asks a thread: a caller's schema, or a pattern in it, may never end, and only a thread can be ended. */
export async function fitSchema({
  schema,
  value: answer,
}: {
  readonly schema: string;
  /** JSON. */
  readonly value?: string;
}): Promise<SchemaFinding> {
  try {
    return (await threads.ask({ schema, answer, mostFaults: MOST_FAULTS })) as SchemaFinding;
  } catch (error) {
    // A machine without room for a thread is no fault of the schema: Temporal tries again.
    if (error instanceof NotStartedError || !(error instanceof HelperError)) throw error;
    return { kind: 'too-much' };
  }
}

/** Returns why a value does not fit, or null if it does. */
export function describeMisfit(found: SchemaFinding): string | null {
  if (found.kind === 'faults') return [...new Set(found.faults.map(describeFault))].join('; ');
  if (found.kind === 'too-much')
    return `it could not be checked within ${MOST_MS / 1000} s and ${MEMORY_MB} MB`;
  if (found.kind !== 'not-json') return null;
  return `it must be JSON and nothing else (${found.reason.replace(/\s+/g, ' ')})`;
}

interface SchemaFault {
  readonly path: string;
  readonly message?: string;
  /** What the validator names, as a text or JSON: the property, the allowed values. */
  readonly named: string | null;
}

function describeFault({ path, message = 'does not fit', named }: SchemaFault): string {
  const more = named === null || message.includes(named) ? '' : ` (${briefly(named)})`;
  return `${path === '' ? 'the value' : briefly(path)} ${message}${more}`;
}

/** Returns why a schema cannot be used, or null. */
export function describeUnusable(schema: string, found: SchemaFinding): string | null {
  if (found.kind === 'bad-schema') return found.reason;
  if (found.kind === 'too-much') return `reading it takes more than ${MOST_MS / 1000} s or ${MEMORY_MB} MB`;
  if (found.kind !== 'unknown-dialect') return null;
  const { $schema } = JSON.parse(schema) as AnswerSchema;
  return `"$schema" is ${briefly(JSON.stringify($schema))}: it must be ${found.known.join(' or ')}`;
}
