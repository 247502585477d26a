import { ApplicationFailure } from '@temporalio/activity';
import fc from 'fast-check';
import { checkAnswer, refuseBadSchema } from '../../src/activities/check-answer';
import type { WorkerResult } from '../../src/protocol/activity-contract';
import { answerSchemaSchema } from '../../src/protocol/answer-schema';
import { openStore } from '../../src';

/** Never read or written: the texts of these tests are short enough to stay inline. */
const store = openStore('sqlite:none.db', '/nowhere');

function resultOf(output: string): WorkerResult {
  return { output, calls: [], dropped: [], startedAt: '', endedAt: '' };
}

/** Returns why an answer does not fit the schema, or null if it does. */
async function faultOf(schema: object, answer: string): Promise<string | null> {
  const result = resultOf(answer);
  try {
    expect(await checkAnswer(store, { answerSchema: JSON.stringify(schema) }, result)).toBe(result);
    return null;
  } catch (error) {
    if (!(error instanceof ApplicationFailure)) throw error;
    expect(error).toMatchObject({ type: 'Answer.Invalid', nonRetryable: true });
    expect(error.details).toEqual([{ calls: [], dropped: [], startedAt: '', endedAt: '', partial: answer }]);
    return error.message.replace('the answer does not fit answerSchema: ', '');
  }
}

test('without a schema, any text is an answer', async () => {
  const result = resultOf('Eight.');
  expect(await checkAnswer(store, {}, result)).toBe(result);
});

test.each([
  ['Eight.', /^it must be JSON and nothing else \(.*\)$/],
  ['```json\n{"legs":8}\n```', /^it must be JSON and nothing else/],
  ['{"legs":8} and so on', /^it must be JSON and nothing else/],
  ['8', /^the value must be object$/],
  ['{}', /^the value must have required property 'legs'$/],
  ['{"legs":8,"eyes":8}', /^the value must NOT have additional properties \(eyes\)$/],
  ['{"legs":9}', /^\/legs must be equal to one of the allowed values \(\[6,8\]\)$/],
])('%s is rejected with a specific reason', async (answer, fault) => {
  const legs = { enum: [6, 8] };
  const schema = { type: 'object', properties: { legs }, required: ['legs'], additionalProperties: false };
  expect(await faultOf(schema, answer)).toMatch(fault);
  expect(await faultOf(schema, '\n {"legs": 6} ')).toBeNull();
});

test('each dialect is read by its own rules: a list of schemas under "items" is a tuple only in draft 7', async () => {
  const tuple = { type: 'array', items: [{ type: 'string' }] };
  const draft7 = { ...tuple, $schema: 'http://json-schema.org/draft-07/schema#' };
  expect(await faultOf(draft7, '[8]')).toBe('/0 must be string');
  await expect(refuseBadSchema(JSON.stringify(tuple))).rejects.toThrow(/answerSchema cannot be used/);
  expect(await faultOf({ type: 'array', prefixItems: [{ type: 'string' }] }, '[8]')).toBe(
    '/0 must be string',
  );
});

test('a fault without details, and one at a path of 100,000 characters, are each reported in one line', async () => {
  expect(await faultOf({ not: { type: 'integer' } }, '8')).toBe('the value must NOT be valid');
  const long = 'x'.repeat(100_000);
  const fault = await faultOf({ additionalProperties: { type: 'integer' } }, JSON.stringify({ [long]: 'a' }));
  expect(fault).toMatch(/^\/x{59}… must be integer$/);
});

test('a schema marked as asynchronous is enforced like any other', async () => {
  expect(await faultOf({ $async: true, type: 'integer' }, '"eight"')).toBe('the value must be integer');
});

test('formats and unknown keywords are annotations only', async () => {
  expect(await faultOf({ type: 'string', format: 'email', 'x-order': 1 }, '"nobody"')).toBeNull();
});

/** A pattern that backtracks for longer than anyone waits. */
const ENDLESS = [{ type: 'string', pattern: '^(a+)+$' }, JSON.stringify(`${'a'.repeat(40)}!`)] as const;

/** Returns how often the main thread took another turn while `work` was done. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const clock = setInterval(() => (turns += 1), 1);
  await work;
  clearInterval(clock);
  return turns;
}

test('a pattern that backtracks forever is abandoned, while others are answered at once', async () => {
  const ended: string[] = [];
  const note = async (name: string, fault: Promise<string | null>): Promise<string | null> => {
    const found = await fault;
    ended.push(name);
    return found;
  };
  // All threads are started before, so that none but the endless ones takes long.
  await Promise.all(Array.from({ length: 4 }, () => faultOf({}, '1')));
  const endless = ['one', 'two'].map((name) => note(name, faultOf(...ENDLESS)));
  const harmless = Array.from({ length: 20 }, () => note('harmless', faultOf(ENDLESS[0], '"aaaa"')));
  const faults = Promise.all([...endless, ...harmless]);
  expect(await turnsDuring(faults)).toBeGreaterThan(10);
  const tooLong = 'it could not be checked within 5 s and 256 MB';
  expect(await faults).toEqual([tooLong, tooLong, ...harmless.map(() => null)]);
  expect(ended[0]).toBe('harmless');
  expect(await faultOf(ENDLESS[0], '"aaaa"')).toBeNull();
});

test('a check that needs far more memory than a thread may have is abandoned, though it would end in time', async () => {
  // Each of the three million faults is an object of its own.
  const ones = JSON.stringify(Array(3_000_000).fill(1));
  expect(await faultOf({ items: { type: 'string' } }, ones)).toBe(
    'it could not be checked within 5 s and 256 MB',
  );
  expect(await faultOf({ items: { type: 'string' } }, '[1]')).toBe('/0 must be string');
});

test('a definition that is referred to thousands of times is compiled once, and not in the main thread', async () => {
  const keywords = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`p${index}`, { minimum: index }]),
  );
  const allOf = Array.from({ length: 2_200 }, () => ({ $ref: '#/$defs/a' }));
  const schema = { $defs: { a: { properties: keywords } }, allOf };
  const json = JSON.stringify(schema);
  expect(answerSchemaSchema.safeParse(schema).success).toBe(true);
  expect(await turnsDuring(refuseBadSchema(json))).toBeGreaterThan(0);
  expect(await faultOf(schema, '{"p7":1}')).toBe('/p7 must be >= 7');
});

test('only ten faults are reported, however many there are', async () => {
  const fault = await faultOf(
    { type: 'array', items: { type: 'string' } },
    JSON.stringify(Array(10_000).fill(1)),
  );
  expect(fault?.split('; ')).toHaveLength(10);
});

test('whatever a model writes is either an answer or a one-line fault', async () => {
  const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'number' } } } };
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.json(), fc.string({ unit: 'binary' })), async (answer) => {
      const fault = await faultOf(schema, answer);
      expect(fault ?? '').not.toMatch(/\n/);
    }),
  );
});
