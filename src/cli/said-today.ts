import { createHash } from 'node:crypto';
import { z } from 'zod';
import { keep, recall } from './memory';

/** By a hash of folder and notice: the day on which it was said last. */
const SAID = { file: 'said.json', schema: z.record(z.string(), z.string()) };

/** Those of a folder's notices that no command has said yet on this day, which are said now. */
export async function notSaidToday(notices: readonly string[]): Promise<string[]> {
  if (notices.length === 0) return [];
  const today = new Date().toISOString().slice(0, 10);
  const said = Object.entries((await recall(SAID)) ?? {}).filter(([, day]) => day === today);
  const known = new Set(said.map(([hash]) => hash));
  const news = notices.filter((notice) => !known.has(hashOf(notice)));
  const all = Object.fromEntries([
    ...said,
    ...news.map((notice): [string, string] => [hashOf(notice), today]),
  ]);
  // Where nothing can be remembered, it is said again.
  if (news.length > 0) await keep(SAID, all).catch(() => undefined);
  return news;
}

function hashOf(notice: string): string {
  return createHash('sha256').update(`${process.cwd()}\n${notice}`).digest('hex').slice(0, 16);
}
