import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { DAY_MS } from '../../config/duration';
import { dateOf } from '../../store/costs';
import type { Store } from '../../store/store';
import { readRecords, writeRecord } from '../../store/records';

const entrySchema = z.object({
  at: z.iso.datetime(),
  /** null for the command line, which uses no key. */
  keyId: z.string().nullable(),
  keyName: z.string(),
  /** A plain string, since a newer version may have written another action. */
  action: z.string(),
  /** Id of the affected solve, checkpoint or key. */
  target: z.string(),
  detail: z.record(z.string(), z.unknown()).optional(),
});

/** Audit entry: who changed what runs, what serves or who has access, and when. */
export type AuditEntry = Readonly<z.infer<typeof entrySchema>>;

export type AuditAction =
  'start' | 'steer' | 'cancel' | 'promote' | 'rollback' | 'pin' | 'key.create' | 'key.revoke';

/** Author of entries from the command line, whose users can access the store directly. */
export const COMMAND_LINE = { keyId: null, keyName: 'command line' } as const;

const FOLDER = 'gateway/audit/';

/** Adds an entry to the audit log, with the current time. */
export async function noteAudit(
  store: Store,
  entry: Omit<AuditEntry, 'at' | 'action'> & { readonly action: AuditAction },
): Promise<void> {
  const at = new Date().toISOString();
  // Store keys must not contain colons.
  const name = `${at.replaceAll(':', '-')}-${randomBytes(6).toString('hex')}`;
  await writeRecord(store, `${FOLDER}${at.slice(0, 10)}/${name}.json`, { at, ...entry });
}

/** Yields the entries of the UTC dates `since` to `until`, both included, in order of time. */
export async function* readAudit(
  store: Store,
  { since, until }: { readonly since: string; readonly until: string },
): AsyncGenerator<AuditEntry> {
  for (let day = since; day <= until; day = dateOf(Date.parse(day) + DAY_MS)) {
    yield* await readRecords(store, `${FOLDER}${day}/`, entrySchema);
  }
}
