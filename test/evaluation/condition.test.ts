import { checkCondition, readCondition, summarize } from '../../src/evaluation/definitions';
import { aRecord } from './a-record';

/** Methods of which the last one is a baseline that is always right. */
const METHODS = ['conductor', 'worker:a', 'worker:b', 'worker:giant'];
const TRIED = { methods: METHODS, workers: ['a', 'b'] };

/** Returns a summary by each method's number of right answers of ten; null if none could be judged. */
function summaryOf(...right: readonly (number | null)[]) {
  const records = METHODS.flatMap((method, place) =>
    Array.from({ length: 10 }, (_, index) => {
      const count = method === 'worker:giant' ? 10 : (right[place] ?? null);
      const verdict = count === null ? 'ungraded' : index < count ? 'correct' : 'wrong';
      return aRecord(method, index, { verdict });
    }),
  );
  return summarize(
    { id: 'e', file: 'f', questions: 10, methods: METHODS, workers: ['a', 'b'], seed: 1 },
    records,
  );
}

test.each([
  ['conductor < worker:best', [7, 5, 8], true],
  ['conductor < worker:best', [8, 5, 8], false],
  ['conductor < worker:a', [7, 5, 8], false],
  ['conductor < worker:best - 0.1', [7, 5, 8], false],
  ['conductor < worker:best - 0.1', [6, 5, 8], true],
  ['conductor<0.75', [7, 5, 8], true],
  ['conductor < 0.7', [7, 5, 8], false],
  ['conductor < worker:b', [7, 5, null], true],
] as const)('%s, with %j right of ten: %s', (text, right, holds) => {
  const checked = checkCondition(readCondition(text, TRIED), summaryOf(...right));
  expect(checked.holds).toBe(holds);
  expect(checked.sentence).toContain(`${holds ? 'Failed' : 'Passed'}: "${text}"`);
});

test('a condition that is malformed or names an untried method is refused with what to write', () => {
  for (const text of ['conductor > worker:a', 'conductor', '< 0.5', 'conductor < worker:a - x']) {
    expect(() => readCondition(text, TRIED)).toThrow('expected e.g. "conductor < worker:best"');
  }
  expect(() => readCondition('conductor < vote:a', TRIED)).toThrow(
    '--fail-if names vote:a, which is not tried: name one of conductor, worker:a, worker:b',
  );
  expect(() =>
    readCondition('conductor < worker:best', { ...TRIED, methods: ['conductor', 'worker:giant'] }),
  ).toThrow('which is not tried');
});
