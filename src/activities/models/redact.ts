/** How much of a provider's own words a failure repeats, in characters. */
const LONGEST = 300;

/** What looks like a credential, whoever it belongs to: providers repeat keys, whole or in part. */
const CREDENTIALS = [
  /\bbearer\s+(?=\S*[\d*])[\w.~+/=*-]{6,}/gi,
  /\b(?:sk|pk|rk|gsk|xai|hf|nvapi)[-_][\w*-]{6,}/gi,
  /\bAIza[\w*-]{8,}/g,
  /\beyJ[\w-]+\.[\w-]+\.[\w-]*/g,
];

/**
 * Makes a provider's words fit for a history that many may read: on one line, without the key or anything that looks
 * like one, at most 300 characters. Clipped last, so that no part of a key is left at the edge.
 */
export function redact(text: string, secret: string | null): string {
  const hidden = secret === null || secret === '' ? text : text.replaceAll(secret, '[key]');
  const clean = CREDENTIALS.reduce((rest, credential) => rest.replace(credential, '[key]'), hidden)
    .replace(/\s+/g, ' ')
    .trim();
  if (clean.length <= LONGEST) return clean;
  // By characters: half of a surrogate pair could not be stored.
  const characters = Array.from(clean.slice(0, LONGEST * 2));
  return `${characters.slice(0, LONGEST - 1).join('')}…`;
}
