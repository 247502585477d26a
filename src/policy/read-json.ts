/** The value that a text spells; null where it spells none, a bare `NaN` among it, which Python writes and JSON lacks. */
export function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
