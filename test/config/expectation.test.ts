import { z } from 'zod';
import { expectationIn } from '../../src/config/expectation';

test.each<readonly [z.ZodType, unknown, string]>([
  [z.number(), 'x', 'expected a number'],
  [z.int(), 1.5, 'expected a whole number'],
  [z.boolean(), 0, 'expected true or false'],
  [z.strictObject({}), 5, 'expected an object'],
  [z.array(z.string()), 'x', 'expected a list'],
  [z.number().min(1), 0, 'expected at least 1'],
  [z.number().positive(), 0, 'expected more than 0'],
  [z.number().max(200), 201, 'expected at most 200'],
  [z.string().min(2), 'x', 'expected at least 2 characters'],
  [z.array(z.string()).max(1), ['a', 'b'], 'expected at most 1 entries'],
  [z.enum(['a', 'b']), 'c', 'expected one of a, b'],
  [z.literal(1), 2, 'expected 1'],
  [z.union([z.string(), z.number()]), true, 'expected a text or a number'],
  [z.union([z.string(), z.object({ a: z.int() })]), { a: 'x' }, 'a: expected a number'],
  [z.number({ error: 'expected USD' }), 'x', 'expected USD'],
])('what %# expects is said in plain words', (schema, value, sentence) => {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  expect(issue && expectationIn(issue)).toBe(sentence);
});

test('no word of the library is left', () => {
  const schema = z.strictObject({
    a: z.string().regex(/x/),
    b: z.number().multipleOf(2),
    c: z.email(),
    d: z.record(z.string(), z.number()),
  });
  const { error } = schema.safeParse({ a: 'y', b: 3, c: 'z', d: 4 });
  const said = error?.issues.map(expectationIn).join('\n');
  expect(said).not.toMatch(/Invalid|Too (big|small)|received|^expected (string|record)/m);
  expect(said?.split('\n')).toHaveLength(4);
});
