import { parseJson, type Said, saidIn } from './said';

/** Units of a duration, by their beginnings, in milliseconds. */
const UNITS: readonly (readonly [name: RegExp, ms: number])[] = [
  [/^(?:ms|milli)/i, 1],
  [/^s/i, 1000],
  [/^m/i, 60_000],
  [/^h/i, 3_600_000],
  [/^d/i, 86_400_000],
];

const UNIT = '(?:ms|millis\\w{0,9}|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)';
const AMOUNT = `\\d{1,15}(?:\\.\\d{1,15})?`;
const DURATION = `(?:${AMOUNT}\\s?${UNIT}(?![a-z])[\\s,]{0,2}){1,5}`;

/** `60s`, `1m30s`, `1h2m3.5s`, `20 seconds`, `PT1M30S`: a duration alone. */
const ALONE = new RegExp(`^\\s{0,9}(?:P?T)?(${DURATION})\\s{0,9}$`, 'i');
/** A duration in a sentence: `Please try again in 9m38.016s.` (OpenAI, Groq), `Please retry after 20 seconds.` (Azure). */
const IN_SENTENCE = new RegExp(
  `\\b(?:try|retry|wait|again|available|resets?)(?: again)?(?: in| after| for)? (?:about )?(${DURATION})`,
  'i',
);

/** Returns the milliseconds of a duration, or NaN. */
function durationIn(text: string, form: RegExp): number {
  const [, written] = form.exec(text.slice(0, 2000)) ?? [];
  if (written === undefined) return NaN;
  // Numbers and units in turns.
  const [, ...parts] = written.split(/([\d.]{1,31})/);
  return parts.reduce((sum, unit, index) => {
    if (index % 2 === 0) return sum;
    const [, ms = NaN] = UNITS.find(([name]) => name.test(unit.trim())) ?? [];
    return sum + Number(parts[index - 1]) * ms;
  }, 0);
}

/**
 * Returns the wait in milliseconds that the provider asks for, or null if it does not say. Read in this order:
 * `retry-after-ms` (OpenAI), `retry-after` in seconds, as a date (RFC 9110) or as a duration, a field of the body
 * such as Google's `retryDelay`, and the sentence itself.
 */
export function retryDelayIn({
  headers,
  body,
}: {
  readonly headers: Pick<Headers, 'get'>;
  readonly body: string | Said;
}): number | null {
  const after = headers.get('retry-after') ?? '';
  // A date is by the server's clock, which its answer tells.
  const now = Date.parse(headers.get('date') ?? '') || Date.now();
  const { wait, sentence } = typeof body === 'string' ? saidIn(parseJson(body) ?? body) : body;
  const waits = [
    Number(headers.get('retry-after-ms')),
    Number(after) * 1000,
    durationIn(after, ALONE),
    Date.parse(after) - now,
    durationIn(wait ?? '', ALONE),
    durationIn(sentence, IN_SENTENCE),
  ];
  const waitMs = waits.find((ms) => ms > 0 && ms < Infinity);
  return waitMs === undefined ? null : Math.ceil(waitMs);
}
