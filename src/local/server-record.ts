import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { codeOf } from './reason-of';

const serverRecordSchema = z.object({
  /** `127.0.0.1:<port>` of the gRPC service. */
  address: z.string(),
  /** URL of Temporal's web page. */
  uiAddress: z.string(),
  /** Number and mark (`process-mark.ts`) of the server's process; null before it is started and after it was stopped. */
  process: z.object({ pid: z.int().positive(), mark: z.string() }).nullable(),
  startedAt: z.iso.datetime(),
});

/** What `server.json` says of a folder's embedded server: the running one, or the last, whose ports are used again. */
export type ServerRecord = z.infer<typeof serverRecordSchema>;

/** The record of a folder; null when there is none that can be read. */
export async function readServerRecord(folder: string): Promise<ServerRecord | null> {
  try {
    const parsed = serverRecordSchema.safeParse(JSON.parse(await readFile(recordPath(folder), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || (error instanceof Error && error.name === 'SyntaxError')) return null;
    throw error;
  }
}

/** Replaces the record of a folder in one step: a reader sees the old or the new one, never half of it. */
export async function writeServerRecord(folder: string, record: ServerRecord): Promise<void> {
  const unfinished = `${recordPath(folder)}.new`;
  await writeFile(unfinished, `${JSON.stringify(record, null, 2)}\n`);
  await rename(unfinished, recordPath(folder));
}

function recordPath(folder: string): string {
  return join(folder, 'server.json');
}
