/** Characters of a provider's message that are searched, and that a failure repeats. */
const MOST_READ = 4096;
const LONGEST = 300;

/** Patterns of anyone's credentials: providers repeat keys, whole or in part. Only short texts are searched. */
const CREDENTIALS = [
  /(?<!\w)bearer\s{1,20}(?=[^\s\d*]{0,4096}[\d*])[\w.~+/=*-]{6,4096}/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*-]{6,4096}/gi,
  /\bAIza[\w*-]{8,4096}/g,
  /(?<![\w-])eyJ[\w-]{1,4096}\.[\w-]{1,4096}\.[\w-]{0,4096}/g,
];

/** White space, control characters, which steer terminals, and overrides of the writing direction. */
const UNSEEN = /[\s\p{Cc}\u200E\u200F\u202A-\u202E\u2066-\u2069]{1,4096}/gu;

/**
 * Makes a provider's message safe for a history that many may read: one line of at most 300 characters, without the
 * key or anything that looks like one, and without a full stop at its end.
 */
export function redact(text: string, secret: string | null): string {
  const hidden = secret === null || secret === '' ? text : text.replaceAll(secret, '[key]');
  const line = hideStarts(hidden.trimStart().slice(0, MOST_READ), secret ?? '').replace(UNSEEN, ' ');
  const clean = CREDENTIALS.reduce((rest, credential) => rest.replace(credential, '[key]'), line).replace(
    /(?<![\s.])[\s.]{1,300}$/,
    '',
  );
  if (clean.length <= LONGEST) return clean;
  // Cuts between characters, since half of a surrogate pair could not be stored.
  const characters = Array.from(clean.slice(0, LONGEST * 2));
  return `${characters.slice(0, LONGEST - 1).join('')}…`;
}

/** Length from which a prefix of the key is hidden, even inside a word, where no pattern matches. */
const TELLING_START = 12;

/** Hides every prefix of the key of that length, with the characters attached to it. */
function hideStarts(text: string, secret: string): string {
  if (secret.length <= TELLING_START) return text;
  const [head = '', ...tails] = text.split(secret.slice(0, TELLING_START));
  return [head, ...tails.map((tail) => tail.replace(/^[\w.~+/=*-]{1,4096}/, ''))].join('[key]');
}
