import fc from 'fast-check';
import { EventReader } from '../../../src/activities/models/stream';

/** Returns the data of every event, reading the bytes in pieces cut at these places. */
function read(text: string, cuts: readonly number[] = []): string[] {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const reader = new EventReader();
  return places.slice(1).flatMap((to, index) => reader.push(bytes.subarray(places[index], to)));
}

const line = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/[\r\n]/g, ''));
const lines = fc.array(line, { minLength: 1, maxLength: 3 });
const end = fc.constantFrom('\n', '\r\n', '\r');
const noise = fc.constantFrom('', ': keep-alive', 'event: ping', 'id: 7', 'retry: 10', 'data', 'data:');

test('reads back what was written, with any line endings and cut anywhere, even within a character', () => {
  const events = fc.array(fc.tuple(lines, end, noise), { maxLength: 6 });
  fc.assert(
    fc.property(events, fc.array(fc.nat(), { maxLength: 12 }), (written, cuts) => {
      const text = written.map(([data, newline, other]) =>
        [other, '', ...data.map((each) => `data: ${each}`), '', ''].join(newline),
      );
      const expected = written.map(([data]) => data.join('\n'));
      const told = expected.filter((data) => data !== '' && !data.startsWith(':'));
      expect(read(text.join(''), cuts)).toEqual(told);
    }),
    { examples: [[[[['half of 🙂'], '\r\n', '']], [9, 10, 11, 12, 13, 14, 15, 16, 17, 18]]] },
  );
});

test.each([
  ['data:no space\n\n', ['no space']],
  ['data: one\ndata: two\n\n', ['one\ntwo']],
  ['event: error\n\n', []],
  ['data: : keep-alive\n\n', []],
  ['data: an event without its end\n', []],
  ['\uFEFFdata: behind a byte order mark\n\n', ['behind a byte order mark']],
])('%j holds %j', (text, expected) => {
  expect(read(text)).toEqual(expected);
});
