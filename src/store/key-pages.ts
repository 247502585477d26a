import { checkKey, type StoredEntry } from './store';

/** The most entries that a database is asked for at once. */
export const PAGE = 1000;

/**
 * Everything below a prefix of keys, page by page in ascending order: no lock and no connection is held in between.
 *
 * @param readPage the first entries whose keys are after the one and before the other, `PAGE` at most
 */
export async function* readPages(
  prefix: string,
  readPage: (after: string, end: string) => Promise<readonly StoredEntry[]>,
): AsyncGenerator<StoredEntry> {
  if (prefix !== '') checkKey(prefix.replace(/\/$/, ''));
  // No key ends with a slash, and a zero is what follows one; nothing of a key is after a tilde.
  const end = prefix === '' ? '~' : prefix.replace(/\/$/, '0');
  let after = prefix;
  for (;;) {
    const page = await readPage(after, end);
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)?.key ?? end;
  }
}

export async function keysOf(entries: AsyncIterable<StoredEntry>): Promise<string[]> {
  const keys = [];
  for await (const { key } of entries) keys.push(key);
  return keys;
}
