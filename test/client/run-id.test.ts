import type { Client } from '@temporalio/client';
import { abbreviates, newRetryId, newRunId } from '../../src/client/run-id';

function idOf(question: string, codecs: readonly object[] = []): string {
  const options = { loadedDataConverter: { payloadCodecs: codecs } };
  return newRunId(question, { options } as unknown as Client);
}

test.each([
  ['What is the capital of France?', 'solve-what-is-the-capital-of-france'],
  ["What's 2 + 2,\nin base 3?", 'solve-whats-2-2-in-base-3'],
  ['Où est le café où l’on boit?', 'solve-ou-est-le-cafe-ou-lon-boit'],
  ['Who wins — 日本 or Brazil?', 'solve-who-wins-or-brazil'],
  ['one two three four five six seven eight nine ten', 'solve-one-two-three-four-five-six-seven-eight'],
  ['x'.repeat(5000), `solve-${'x'.repeat(40)}`],
  ['../../etc/passwd; rm -rf', 'solve-etc-passwd-rm-rf'],
])('the id of %j is readable', (question, expected) => {
  const [, words, random] = /^(.*)-([0-9a-z]{8})$/.exec(idOf(question)) ?? [];
  expect(words).toBe(expected);
  expect(idOf(question)).not.toContain(random);
});

test.each(['日本の首都はどこですか?', 'ما هي عاصمة فرنسا؟', '🤔', '1\u0301'.repeat(0)])(
  'a question such as %j has a short id as well',
  (question) => {
    expect(idOf(question)).toMatch(/^solve-[0-9a-z]{12}$/);
  },
);

test('if payloads go through a codec, which may encrypt them, no word of the question is in the id', () => {
  expect(idOf('Is Ada pregnant?', [{}])).toMatch(/^solve-[0-9a-z]{12}$/);
});

test('a retry is named after its run, however often it is retried, and its id is never too long', () => {
  const first = newRetryId('solve-why-7kq2m9xw');
  expect(first).toMatch(/^solve-why-7kq2m9xw-retry-[0-9a-z]{6}$/);
  expect(newRetryId(first)).toMatch(/^solve-why-7kq2m9xw-retry-[0-9a-z]{6}$/);
  expect(newRetryId(first)).not.toBe(first);
  expect(newRetryId('x'.repeat(1000)).length).toBeLessThan(250);
});

describe('a run is meant', () => {
  const id = 'solve-retry-the-server-7kq2m9xw';

  test.each(['solve', 'solve-retry', 'solve-retry-the-server-7kq2m9x', id])(
    'by the beginning %j of its id',
    (given) => {
      expect(abbreviates(given, id)).toBe(true);
    },
  );

  test.each(['', '-r0s3', '-review', '-r0s3-r1s10'])(
    'never by the whole id of a run that it belongs to: %j',
    (part) => {
      expect(abbreviates(id, `${id}-retry-gbg27d${part}`)).toBe(false);
      if (part !== '') expect(abbreviates(id, `${id}${part}`)).toBe(false);
    },
  );

  test('by the beginning of the id of a retry or a child, past that of its run', () => {
    expect(abbreviates('solve-retry-the', `${id}-retry-gbg27d`)).toBe(true);
    expect(abbreviates(`${id}-r`, `${id}-retry-gbg27d`)).toBe(true);
    expect(abbreviates(`${id}-r`, `${id}-r0s3`)).toBe(true);
    expect(abbreviates('solve-other', id)).toBe(false);
  });
});
