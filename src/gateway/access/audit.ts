import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { dateOf } from '../../store/costs';
import type { Store } from '../../store/store';
import { readRecords, writeRecord } from '../../store/records';

const entrySchema = z.object({
  at: z.iso.datetime(),
  /** null for the command line, which uses no key. */
  keyId: z.string().nullable(),
  keyName: z.string(),
  /** A newer version may have written another action. */
  action: z.string(),
  /** Id of the solve, checkpoint or key that it was done to. */
  target: z.string(),
  detail: z.record(z.string(), z.unknown()).optional(),
});

/** Something that changed what runs, what serves or who may ask: who did it, and when. */
export type AuditEntry = Readonly<z.infer<typeof entrySchema>>;

export type AuditAction =
  'start' | 'steer' | 'cancel' | 'promote' | 'rollback' | 'pin' | 'key.create' | 'key.revoke';

/** Whoever uses the command line may read and write the store itself. */
export const COMMAND_LINE = { keyId: null, keyName: 'command line' } as const;

const FOLDER = 'gateway/audit/';

/** Adds an entry to the audit log, at the present time. */
export async function noteAudit(
  store: Store,
  entry: Omit<AuditEntry, 'at' | 'action'> & { readonly action: AuditAction },
): Promise<void> {
  const at = new Date().toISOString();
  // Keys of a store have no colons.
  const name = `${at.replaceAll(':', '-')}-${randomBytes(6).toString('hex')}`;
  await writeRecord(store, `${FOLDER}${at.slice(0, 10)}/${name}.json`, { at, ...entry });
}

const DAY_MS = 86_400_000;

/** Entries from the UTC date `since` to `until`, both included, in the order of time. */
export async function* readAudit(
  store: Store,
  { since, until }: { readonly since: string; readonly until: string },
): AsyncGenerator<AuditEntry> {
  for (let day = since; day <= until; day = dateOf(Date.parse(day) + DAY_MS)) {
    yield* await readRecords(store, `${FOLDER}${day}/`, entrySchema);
  }
}
