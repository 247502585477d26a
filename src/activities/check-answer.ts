import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/activity';
import { HelperError, Killable, NotStartedError, startThread } from '../runtime/killable';
import { briefly } from '../plan/plan-error';
import type { RunTask, WorkerResult } from '../protocol/activity-contract';
import { FAILURES, type CallFailureDetails } from '../protocol/failures';
import type { AnswerSchema } from '../protocol/input';
import type { Store } from '../store/store';
import { readText } from '../store/texts';

/**
 * Returns a result if its output fits the answer schema, or if there is none.
 * @throws ApplicationFailure `Answer.Invalid` with the validator's messages, the text and the calls made for it
 */
export async function checkAnswer(
  store: Store,
  { answerSchema }: Pick<RunTask, 'answerSchema'>,
  result: WorkerResult,
): Promise<WorkerResult> {
  if (answerSchema === undefined) return result;
  const [schema, answer] = await Promise.all([readText(store, answerSchema), readText(store, result.output)]);
  const fault = await findFault(schema, answer);
  if (fault === null) return result;
  const { output: partial, ...details } = result;
  throw ApplicationFailure.create({
    type: FAILURES.answerInvalid,
    message: `the answer does not fit answerSchema: ${fault}`,
    nonRetryable: true,
    details: [{ ...details, partial } satisfies CallFailureDetails],
  });
}

/** @throws ApplicationFailure `Solve.BadInput` that says why a schema cannot be used */
export async function refuseBadSchema(schema: string): Promise<void> {
  const problem = problemIn(schema, await ask({ schema }));
  if (problem !== null) throw badSchema(problem);
}

async function findFault(schema: string, answer: string): Promise<string | null> {
  const found = await ask({ schema, answer });
  if (found.kind === 'fits') return null;
  if (found.kind === 'faults') return [...new Set(found.faults.map(describeFault))].join('; ');
  if (found.kind === 'too-much')
    return `it could not be checked within ${MOST_MS / 1000} s and ${MEMORY_MB} MB`;
  if (found.kind === 'not-json') {
    return `it must be JSON and nothing else (${found.reason.replace(/\s+/g, ' ')})`;
  }
  throw badSchema(problemIn(schema, found) ?? '');
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
function problemIn(schema: string, found: ThreadFinding): string | null {
  if (found.kind === 'bad-schema') return found.reason;
  if (found.kind === 'too-much') return `reading it takes more than ${MOST_MS / 1000} s or ${MEMORY_MB} MB`;
  if (found.kind !== 'unknown-dialect') return null;
  const { $schema } = JSON.parse(schema) as AnswerSchema;
  return `"$schema" is ${briefly(JSON.stringify($schema))}: it must be ${found.known.join(' or ')}`;
}

function badSchema(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`answerSchema cannot be used: ${problem}`, FAILURES.badInput);
}

/** What the thread found, without an answer about the schema alone. */
type ThreadFinding =
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
async function ask(job: { readonly schema: string; readonly answer?: string }): Promise<ThreadFinding> {
  try {
    return (await threads.ask({ ...job, mostFaults: MOST_FAULTS })) as ThreadFinding;
  } catch (error) {
    // A machine without room for a thread is no fault of the schema: Temporal tries again.
    if (error instanceof NotStartedError || !(error instanceof HelperError)) throw error;
    return { kind: 'too-much' };
  }
}
