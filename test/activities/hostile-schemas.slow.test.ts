import { refuseBadSchema } from '../../src/activities/check-answer';
import { answerSchemaSchema } from '../../src/protocol/answer-schema';
import { faultOf } from './fault-of';

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
