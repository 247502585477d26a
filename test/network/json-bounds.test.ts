import fc from 'fast-check';
import { findJsonExcess, MOST_LEVELS, MOST_VALUES } from '../../src/network/json-bounds';

/** Counts as the bound does: each list and object for as many values as it has, an empty one for one. */
function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const parts: unknown[] = Object.values(value);
  return parts.reduce((sum: number, part) => sum + valuesIn(part), Math.max(1, parts.length));
}

test('counts the values of any JSON, whatever its strings hold', () => {
  const text = fc.string({ unit: fc.constantFrom('[', ']', '{', '}', ',', '"', '\\', 'a', '\u2028') });
  const json = fc.jsonValue({ stringUnit: 'binary' });
  fc.assert(
    fc.property(fc.oneof(json, fc.array(text), fc.dictionary(text, fc.array(text))), (value) => {
      const room = MOST_VALUES - valuesIn(value) - 1;
      expect(findJsonExcess(JSON.stringify([value, ...Array<number>(room).fill(1)]))).toBeNull();
      expect(findJsonExcess(JSON.stringify([...Array<number>(room + 1).fill(1), value]))).toMatch(
        /20000 values/,
      );
    }),
    { numRuns: 50 },
  );
});

test('counts levels of lists and objects alike', () => {
  const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`;
  expect(findJsonExcess(`[${nested(MOST_LEVELS)}]`)).toMatch(/more than 128 deep/);
  expect(findJsonExcess(nested(MOST_LEVELS))).toBeNull();
  expect(findJsonExcess(`[${Array(1000).fill(nested(2)).join(',')}]`)).toBeNull();
});

test('leaves what is no JSON to the parser', () => {
  for (const text of ['', '"', '"\\', '{', ']]]]', 'Eight.']) expect(findJsonExcess(text)).toBeNull();
});
