import fc from 'fast-check';
import { toProviderFailure } from '../../../src/activities/models/failure';
import { diagnose, retryDelayIn } from '../../../src/activities/models/diagnose';
import { TransportError } from '../../../src/activities/models/transport';
import { redact } from '../../../src/activities/models/redact';
import { explainS3 } from '../../../src/store/s3-store';
import { refAt, refsIn } from '../../../src/store/texts';
import { aCard, aRequest } from './ask';

// No time is measured here: a pattern that is more than linear would take minutes, and the run with it.

const MEGABYTE = 1024 * 1024;
const SECRET = 'sk-live-Zq9Zq8Zq7Zq6Zq5';

/** Pieces that patterns over foreign text look for, or that make them look again. */
const PIECES = [
  ...['<title', '<title>', '<html>', '<!doctype ', '>', '<', '</title>'],
  ...['eyJ', '-eyJ', 'eyJa.', '.', 'bearer ', 'bearer\t', 'sk-', 'AIza', '*', '-', '_'],
  ...['perday', 'billing_', 'insufficient_quota', 'credit balance is too low', '401 ', '429 '],
  ...[
    'ECONN',
    'CERT_',
    'ECONNRESET',
    ' ',
    '\n',
    '\t',
    'a',
    'A',
    '9',
    '"',
    '{',
    '}',
    '\\',
    '🦉',
    '\ud83e',
    'é',
  ],
  ...['sha256-', '0123456789abcdef', SECRET],
];

/** Up to 1 MB of a few pieces again and again, with ends of their own. */
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

/** The reviewers' own finds, and relatives of theirs. */
const FOUND = ['-eyJ', '<title', 'eyJa.', 'perday', 'bearer ', '<html><title', ' ', 'sk-', '"', '🦉'].map(
  (unit) => unit.repeat(MEGABYTE / unit.length),
);
/** The beginning of a key inside a word: no pattern that looks for keys of any vendor starts there. */
const GLUED = `<title${SECRET.slice(0, 15)}`;
const examples = [...FOUND, GLUED].map((text): [string] => [text]);

test('what may be shown of a text is short, whole and without the key', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const clean = redact(text, SECRET);
      expect(Array.from(clean).length).toBeLessThanOrEqual(300);
      expect(clean).not.toContain(SECRET.slice(0, 12));
    }),
    { numRuns: 100, examples },
  );
});

test('every error that holds such a text becomes one short sentence', () => {
  fc.assert(
    fc.property(hostile, fc.constantFrom(200, 400, 429, 503), (text, status) => {
      const headers = new Headers();
      const error = {
        message: text,
        code: text,
        type: text,
        status: text,
        details: [{ reason: text }, text],
      };
      const bodies = [
        text,
        JSON.stringify({ error }),
        JSON.stringify({ error: text }),
        JSON.stringify(error),
      ];
      const errors = [
        ...bodies.map((body) => new TransportError({ status, headers, body })),
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

test('headers and keys of such a text are read', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      retryDelayIn({ headers: { get: () => text }, body: `"retryDelay": "${text}s"` });
      expect(refAt(text)).toBeNull();
      for (const ref of refsIn({ text: [text] })) expect(ref).toHaveLength(71);
    }),
    { numRuns: 50, examples },
  );
});
