import fc from 'fast-check';
import { redact } from '../../../src/activities/models/redact';

test.each([
  ['Incorrect API key provided: sk-abcd************wxyz.', 'Incorrect API key provided: [key]'],
  ['header was "Bearer abc123.def-456"', 'header was "[key]"'],
  ['API key not valid: AIzaSyA1234567890abcdefg', 'API key not valid: [key]'],
  ['token eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl expired', 'token [key] expired'],
  ['A bearer token is missing; see basic-information and risk-assessment', undefined],
  ['two\n  lines\t', 'two lines'],
])('%j', (text, expected) => {
  expect(redact(text, null)).toBe(expected ?? text);
});

test('an empty key hides nothing', () => {
  expect(redact('abc', '')).toBe('abc');
});

test('no text around a key lets it through, whole or cut at the edge', () => {
  const key = 'Zq9-Zq8-Zq7-Zq6-Zq5-Zq4';
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), fc.string({ maxLength: 400 }), (before, after) => {
      const clean = redact(`${before}${key}${after}`, key);
      expect(clean).not.toContain('Zq9-Zq');
      expect(Array.from(clean).length).toBeLessThanOrEqual(300);
    }),
  );
});

test('clips by characters, so that no half of one is left', () => {
  const clean = redact('🦉'.repeat(400), null);
  expect(clean).toBe(`${'🦉'.repeat(299)}…`);
});
