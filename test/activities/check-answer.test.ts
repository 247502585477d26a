import fc from 'fast-check';
import { checkAnswer, refuseBadSchema } from '../../src/activities/check-answer';
import { faultOf, resultOf, store } from './fault-of';

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
