import fc from 'fast-check';
import { LONGEST_TEXT } from './thorough';

/**
 * Adversarial text: a few pieces repeated many times, with other pieces before and after. Repetition makes a search, a
 * stack or a list of findings grow faster than the text.
 */
export function hostileText(pieces: readonly string[], most = LONGEST_TEXT): fc.Arbitrary<string> {
  const piece = fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'binary', maxLength: 4 }));
  const few = fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('') || ' ');
  const sizes = [most, most / 16, most / 256, 10].map(Math.floor);
  return fc.tuple(few, few, few, fc.constantFrom(...sizes)).map(([before, unit, behind, size]) => {
    const middle = unit.repeat(Math.ceil(size / unit.length));
    return `${before}${middle}`.slice(0, Math.max(1, size - behind.length)) + behind;
  });
}
