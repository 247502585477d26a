import { createContext, runInContext } from 'node:vm';
import { ApplicationFailure } from '@temporalio/activity';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { reasonOf } from '../errors';
import { briefly } from '../plan/plan-error';
import type { Asked, WorkerResult } from '../protocol/activity-contract';
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
  { answerSchema }: Pick<Asked, 'answerSchema'>,
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
  await compile(schema);
}

/** Most schema violations listed, for a model and for people. */
const MOST_FAULTS = 10;

async function findFault(schema: string, answer: string): Promise<string | null> {
  let value: unknown;
  try {
    value = JSON.parse(answer);
  } catch (error) {
    return `it must be JSON and nothing else (${reasonOf(error).replace(/\s+/g, ' ')})`;
  }
  const validate = await compile(schema);
  const isValid = withinTime(MOST_MS, () => validate(value));
  if (isValid === null) return `it could not be checked within ${MOST_MS} ms`;
  if (isValid) return null;
  const faults = (validate.errors ?? []).map(describeFault);
  return [...new Set(faults)].slice(0, MOST_FAULTS).join('; ');
}

function describeFault({ instancePath, message = 'does not fit', params }: ErrorObject): string {
  const [named = null] = Object.values(params as Record<string, unknown>);
  const shown = typeof named === 'string' ? named : JSON.stringify(named);
  const more = named === null || message.includes(shown) ? '' : ` (${briefly(shown)})`;
  return `${instancePath === '' ? 'the value' : briefly(instancePath)} ${message}${more}`;
}

const LATEST = 'https://json-schema.org/draft/2020-12/schema';

const DIALECTS = {
  [LATEST]: async () => (await import('ajv/dist/2020.js')).Ajv2020,
  'http://json-schema.org/draft-07/schema': async () => (await import('ajv')).Ajv,
} as const;

/** Compiles a schema in the dialect it names, by default 2020-12. As in 2020-12, `format` is only an annotation. */
async function compile(json: string): Promise<ValidateFunction> {
  const schema = JSON.parse(json) as AnswerSchema;
  const { $schema = LATEST } = schema;
  const known = Object.entries(DIALECTS).find(([name]) => $schema === name || $schema === `${name}#`);
  if (known === undefined) {
    const names = Object.keys(DIALECTS).join(' or ');
    throw badSchema(`"$schema" is ${briefly(JSON.stringify($schema))}: it must be ${names}`);
  }
  const Validator = await known[1]();
  const validator = new Validator({ strict: false, validateFormats: false, allErrors: true, logger: false });
  try {
    // Ajv's `$async` extension would make `validate` return a promise, and every answer would pass.
    const validate = withinTime(READ_MS, () => validator.compile({ ...schema, $async: false }));
    if (validate !== null) return validate;
  } catch (cause) {
    throw badSchema(reasonOf(cause));
  }
  throw badSchema(`compiling it takes longer than ${READ_MS} ms`);
}

function badSchema(problem: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`answerSchema cannot be used: ${problem}`, FAILURES.badInput);
}

/** Time limit of a validation. A regular expression may never end, and only code in a `vm` context can be stopped. */
const MOST_MS = 1000;
/** Time limit for compiling a schema; no harmless one takes this long, however busy the machine is. */
const READ_MS = 5000;

function withinTime<Value>(timeout: number, work: () => Value): Value | null {
  try {
    return runInContext('work()', createContext({ work }), { timeout }) as Value;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return null;
    throw error;
  }
}
