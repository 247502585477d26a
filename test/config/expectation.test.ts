import { z } from 'zod';
import { explainIssue } from '../../src/config/errors';
import { expectationIn } from '../../src/config/expectation';
import { trainingConfigSchema } from '../../src/training/config/schema';

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
  [z.array(z.string()).max(1), ['a', 'b'], 'expected at most 1 entry'],
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
    e: z.record(z.string().max(1), z.number()),
    f: z.string().refine((text) => text === 'f'),
    g: z.discriminatedUnion('kind', [z.object({ kind: z.literal('x') }), z.object({ kind: z.literal('y') })]),
    h: z.tuple([z.string()]),
    i: z.never().optional(),
  });
  const wrong = { a: 'y', b: 3, c: 'z', d: 4, e: { no: 1 }, f: 'g', g: { kind: 'z' }, h: 1, i: 1, other: 1 };
  const said = schema.safeParse(wrong).error?.issues.map(expectationIn) ?? [];
  expect(said).toHaveLength(Object.keys(wrong).length);
  expect(said.filter((sentence) => LIBRARYS_WORDS.test(sentence))).toEqual([]);
});

/** Sentences of zod, and its names of kinds. */
const LIBRARYS_WORDS =
  /Invalid|Too (big|small)|Unrecognized|received|must (be|match)|expected (string|number|object|array|record|int|boolean|map|tuple|undefined|unknown|never|nonoptional)\b/;

const SMALLEST = {
  conductor: { provider: 'openai', model: 'm' },
  workers: [{ id: 'a', provider: 'openai', model: 'm' }],
};

test('whatever stands at any place of a configuration, no word of the library is said', () => {
  const document = z.toJSONSchema(trainingConfigSchema, { io: 'input', unrepresentable: 'any' });
  const places = new Map([...placesIn(document)].map((place) => [place.join('.'), place]));
  expect(places.size).toBeGreaterThan(300);
  const wrong = ['', 'x', -1, 1.5, 1e12, true, null, [], [1], {}, { other: 1 }];
  const said = [...places.values()].flatMap((place) =>
    wrong.flatMap((value) => {
      const content = withValue(SMALLEST, place, value);
      const issues = trainingConfigSchema.safeParse(content).error?.issues ?? [];
      return issues.map((issue) => expectationOf(explainIssue(issue, content)));
    }),
  );
  expect([...new Set(said)].filter((sentence) => LIBRARYS_WORDS.test(sentence))).toEqual([]);
  expect(said).toContain('expected a whole number');
});

/** Takes the value, which may be any word, off a sentence. */
function expectationOf(sentence: string): string {
  return sentence.replace(/^.*?(?: is missing| cannot be used| is .*?): /, '');
}

/** Yields the paths of all settings; in a list 0, in a mapping a name. */
function* placesIn(schema: unknown, at: readonly PropertyKey[] = []): Generator<readonly PropertyKey[]> {
  if (typeof schema !== 'object' || schema === null) return;
  if (at.length > 0) yield at;
  const { properties = {}, items, additionalProperties, anyOf, oneOf, allOf } = schema as JsonSchema;
  for (const [name, part] of Object.entries(properties)) yield* placesIn(part, [...at, name]);
  yield* placesIn(items, [...at, 0]);
  if (typeof additionalProperties === 'object') yield* placesIn(additionalProperties, [...at, 'x']);
  for (const form of [anyOf, oneOf, allOf].flat()) yield* placesIn(form, at);
}

type JsonSchema = Partial<{
  properties: Record<string, unknown>;
  items: unknown;
  additionalProperties: unknown;
  anyOf: unknown[];
  oneOf: unknown[];
  allOf: unknown[];
}>;

function withValue(content: unknown, [key, ...rest]: readonly PropertyKey[], value: unknown): unknown {
  if (key === undefined) return value;
  const base = Object(content) as Record<PropertyKey, unknown>;
  const part = withValue(base[key], rest, value);
  return typeof key === 'number' ? [part] : { ...base, [key]: part };
}
