/**
 * The part of a reply that is graded: what stands in its last `<answer>` tag, else the whole of it.
 *
 * A tag that was never closed reaches to the end of the reply, so that an answer cut at its length limit is judged by
 * what is there.
 */
export function answerTextOf(reply: string): string {
  const tagged = reply
    .split(/<answer>/i)
    .slice(1)
    .at(-1);
  return (tagged?.split(/<\/answer>/i)[0] ?? reply).trim();
}

/** The same without what is there for the eye alone: `\boxed{…}` or `\text{…}` around it, `$`, back-ticks, bold marks. */
export function plainTextOf(text: string): string {
  let plain = text.replace(/[`$]|\*\*/g, '').trim();
  for (let inner = unwrapped(plain); inner !== null; inner = unwrapped(plain)) plain = inner;
  return plain;
}

/** What the one macro around a text holds; null where there is none around all of it. */
function unwrapped(text: string): string | null {
  return /^\\(?:boxed|text|textbf|mathrm)\s*\{([^{}]*)\}\.?$/.exec(text)?.[1]?.trim() ?? null;
}

/**
 * What is left of a text for comparison: without typesetting, quotation marks around it and a full stop at its end, each
 * run of blanks one blank, and in lower case unless case counts.
 */
export function normalizeText(text: string, caseSensitive = false): string {
  const plain = plainTextOf(text)
    .normalize('NFC')
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .replace(/^(["'])(.*)\1$/, '$2')
    .trim();
  return caseSensitive ? plain : plain.toLowerCase();
}
