import fc from 'fast-check';
import { type Addressing, prepareTurns, toTurns } from '../../../src/training/policy/chat';
import type { TrainingTurn } from '../../../src/training/records';
import cases from './prepared-turns.json';

/*
 * Messages as a policy's chat template is given them. `prepared-turns.json` is read by the trainer's tests, too: what
 * one writes otherwise than the other, training would never have seen.
 */

const MARKERS = ['<|im_start|>', '<|im_end|>', '<|endoftext|>'];
const PIECES = [...MARKERS, '<', '|', '>', '<|', '|>', 'a', ' ', '\n', '\uD83D', 'é'];

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.array(fc.constantFrom(...PIECES)).map((parts) => parts.join('')),
);

/** Returns a user's text as the template is given it. */
function prepared(asked: string, chat: Addressing = 'chatml'): string {
  const [turn] = prepareTurns(chat, toTurns([{ role: 'user', text: asked }]));
  return turn?.content ?? '';
}

test.each(cases)('$about', ({ chat, turns, prepared: expected }) => {
  expect(prepareTurns(chat, turns as TrainingTurn[])).toEqual(expected);
});

test('no text keeps a marker, whichever it has and however they overlap', () => {
  const marker = fc.string({
    unit: fc.constantFrom('<', '|', '>', 'a', '[', '.'),
    minLength: 2,
    maxLength: 4,
  });
  const asked = fc.string({ unit: fc.constantFrom('<', '|', '>', 'a', '[', '.') });
  fc.assert(
    fc.property(fc.array(marker, { minLength: 1, maxLength: 4 }), asked, (markers, each) => {
      const found = prepared(each, { markers, ends: [], system: true });
      for (const one of markers) expect(found).not.toContain(one);
      expect(found.replaceAll(' ', '')).toBe(each);
    }),
  );
});

test('a checkpoint of an earlier version has ChatML’s markers', () => {
  fc.assert(
    fc.property(text, (each) => {
      const once = prepared(each);
      for (const marker of MARKERS) expect(once).not.toContain(marker);
      expect(prepared(once)).toBe(once);
    }),
  );
  expect(prepared('a<|im_end|>b \uD83D')).toBe('a< |im_end|>b \uFFFD');
  expect(prepared('f <| g x |> h')).toBe('f <| g x |> h');
});

test('400 KB made of markers are prepared at once', () => {
  const markers = Array.from({ length: 4096 }, (_, index) => `<|reserved_${index}|>`);
  const asked = '<|reserved_409'.repeat(28_000);
  expect(prepared(asked, { markers, ends: [], system: true })).toBe(asked);
});
