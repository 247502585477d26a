import fc from 'fast-check';
import { redact, toProviderFailure } from '../../../src/activities/models';
import { diagnose, diagnoseHttp } from '../../../src/activities/models/diagnose';
import { retryDelayIn } from '../../../src/activities/models/failures/retry-delay';
import { TransportError } from '../../../src/activities/models/transport';
import { explainS3 } from '../../../src/store/s3-store';
import { refAt, refsIn } from '../../../src/client/collect-garbage';
import { aCard, aRequest } from './ask';

// No time is measured here: a pattern with more than linear cost would make the test take minutes.

const MEGABYTE = 1024 * 1024;
const SECRET = 'sk-live-Zq9Zq8Zq7Zq6Zq5';

/** Pieces that the patterns over foreign text match, or that make them backtrack. */
const PIECES = [
  ...'<title <title> <html> > < </title> eyJ -eyJ eyJa. . sk- AIza * - _ perday billing_'.split(' '),
  ...'insufficient_quota ECONN CERT_ ECONNRESET a A 9 " { } \\ 🦉 é sha256- 0123456789abcdef'.split(' '),
  ...['<!doctype ', 'bearer ', 'bearer\t', 'credit balance is too low', '401 ', '429 ', ' ', '\n', '\t'],
  ...['\ud83e', SECRET],
];

/** Up to 1 MB of a few repeated pieces, with other pieces at both ends. */
const hostile = fc
  .tuple(
    fc.array(fc.constantFrom(...PIECES), { maxLength: 3 }),
    fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
    fc.integer({ min: 1, max: MEGABYTE }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 3 }),
  )
  .map(([start, again, length, end]) => {
    const unit = again.join('');
    return start.join('') + unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + end.join('');
  });

const REQUEST = aRequest(aCard({}), { apiKey: SECRET });

/** Inputs that reviewers found, and similar ones. */
const FOUND = ['-eyJ', '<title', 'eyJa.', 'perday', 'bearer ', '<html><title', ' ', 'sk-', '"', '🦉'].map(
  (unit) => unit.repeat(MEGABYTE / unit.length),
);
/** The start of a key inside a word, where no pattern for vendors' keys matches. */
const GLUED = `<title${SECRET.slice(0, 15)}`;
const examples = [...FOUND, GLUED].map((text): [string] => [text]);

test('redacted text is short and does not contain the key', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const clean = redact(text, SECRET);
      expect(Array.from(clean).length).toBeLessThanOrEqual(300);
      expect(clean).not.toContain(SECRET.slice(0, 12));
    }),
    { numRuns: 100, examples },
  );
});

test('every error with hostile text becomes one short message without the key', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(200, 400, 429, 503), (text, status) => {
      const headers = new Headers();
      const details = [{ reason: text }, text];
      const error = { message: text, code: text, type: text, status: text, details };
      const bodies = [text, ...[{ error }, { error: text }, error].map((body) => JSON.stringify(body))];
      const errors = [
        ...bodies.map((body) => new TransportError(diagnoseHttp({ status, headers, body }))),
        new Error(text),
        Object.assign(new Error(text), { code: text, cause: Object.assign(new Error(text), { code: text }) }),
      ];
      for (const error of errors) {
        expect(diagnose(error).type).toMatch(/^Provider\./);
        const { message = '' } = toProviderFailure(error, REQUEST) ?? {};
        expect(message.length).toBeLessThan(1000);
        expect(message).not.toContain(SECRET.slice(0, 12));
      }
      expect(explainS3(new Error(text), 's3://b').message.length).toBeLessThan(1000);
    }),
    { numRuns: 30, examples: FOUND.map((text): [string, 400] => [text, 400]) },
  );
});

test('hostile text in headers and store keys is read quickly, and yields only well-formed references', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      retryDelayIn({ headers: { get: () => text }, body: `"retryDelay": "${text}s"` });
      expect(refAt(text)).toBeNull();
      for (const ref of refsIn({ text: [text] })) expect(ref).toHaveLength(71);
    }),
    { numRuns: 50, examples },
  );
});

test('a reference is found however deep its value is nested', () => {
  const ref = `sha256-${'a'.repeat(64)}`;
  const deep = `${'['.repeat(100_000)}"${ref}"${']'.repeat(100_000)}`;
  expect([...refsIn(JSON.parse(deep))]).toEqual([ref]);
});

test.each([
  ['Incorrect API key provided: sk-abcd************wxyz.', 'Incorrect API key provided: [key]'],
  ['header was "Bearer abc123.def-456"', 'header was "[key]"'],
  ['API key not valid: AIzaSyA1234567890abcdefg', 'API key not valid: [key]'],
  ['token eyJhbGciOi.eyJzdWIiOi.c2lnbmF0dXJl expired', 'token [key] expired'],
  ['A bearer token is missing; see basic-information and risk-assessment', undefined],
  ['two\n  lines\t', 'two lines'],
])('%j is shown without what looks like a key', (text, expected) => {
  expect(redact(text, null)).toBe(expected ?? text);
});

test('an empty key hides nothing', () => {
  expect(redact('abc', '')).toBe('abc');
});

test('a key is hidden whatever text surrounds it, even if it is cut at the edge', () => {
  const key = 'Zq9-Zq8-Zq7-Zq6-Zq5-Zq4';
  fc.assert(
    fc.property(fc.string({ maxLength: 400 }), fc.string({ maxLength: 400 }), (before, after) => {
      const clean = redact(`${before}${key}${after}`, key);
      expect(clean).not.toContain('Zq9-Zq');
      expect(Array.from(clean).length).toBeLessThanOrEqual(300);
    }),
  );
});

test('clips between characters, never within one', () => {
  const clean = redact('🦉'.repeat(400), null);
  expect(clean).toBe(`${'🦉'.repeat(299)}…`);
});
