import fc from 'fast-check';
import { LiveLog } from '../../src/activities';
import { LiveReader } from '../../src/store/stream-log';
import { freshStore } from '../local/fresh-folder';
import { until } from '../support/until';

const PLACE = { workflowId: 'w', round: 0, step: 0, startedAt: '2026-01-01T00:00:00.000Z' };

/** Pieces of text as models stream them; a piece may end in the middle of a surrogate pair. */
const pieces = fc
  .array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 900 }), { minLength: 1, maxLength: 8 })
  .map((texts) => texts.flatMap((text) => [text.slice(0, 1), text.slice(1)]).filter((text) => text !== ''))
  // A last character that may begin a tag is not written before the next one.
  .map((texts) => [...texts, '. End.']);

test('the log returns each text of concurrent calls as it was written', async () => {
  const store = await freshStore();
  // Creates the database: a poll of a missing one returns without waiting, and would never let the log write.
  await store.write('made', Buffer.of());
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { minLength: 1, maxLength: 3 }), async (calls) => {
      const rootId = `run-${(runs += 1)}`;
      const log = new LiveLog(store);
      const writers = calls.map((_, index) =>
        log.open({ ...PLACE, rootId, callId: `call-${index}`, attempt: 1 }, 'model'),
      );
      for (let turn = 0; turn < Math.max(...calls.map(({ length }) => length)); turn += 1) {
        for (const [index, texts] of calls.entries()) writers[index]?.(texts[turn] ?? '');
      }
      const reader = new LiveReader(store, rootId);
      const found: Record<string, string> = {};
      const expected = Object.fromEntries(calls.map((texts, index) => [`call-${index}`, texts.join('')]));
      await until(
        async () => {
          for await (const texts of reader.read()) {
            for (const { callId, offset, text } of texts) {
              expect(offset).toBe(found[callId]?.length ?? 0);
              found[callId] = (found[callId] ?? '') + text;
            }
          }
          return JSON.stringify(Object.entries(found).sort());
        },
        (read) => read === JSON.stringify(Object.entries(expected).sort()),
      );
    }),
    { numRuns: 10 },
  );
});
