import { EXIT, type ExitCode } from '../kit/ending';
import { loadSettings, type WorkOptions } from '../kit/load-settings';
import { columnsOf, paintFor, print, say, toJson } from '../kit/terminal';
import { DAY_MS } from '../../config/duration';
import { dateOf } from '../../store/costs';
import { configuredStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { describeUsd, MARKS } from '../../trace/describe';
import { headLine, oneLine, strokeOf } from '../../trace/lines';
import {
  type AuditEntry,
  COMMAND_LINE,
  createKey,
  type DaySpending,
  describeSpent,
  isUsable,
  type Key,
  listKeys,
  noteAudit,
  readAudit,
  readSpending,
  revokeKey,
  spendingInUsd,
} from '../../gateway/access';

// Keys are created and revoked in the store, so neither a server nor a gateway has to run.

interface JsonOptions extends WorkOptions {
  readonly json?: boolean;
}

interface CreateOptions extends JsonOptions {
  readonly models?: readonly string[];
  readonly usdPerDay?: number | null;
  readonly requestsPerMinute?: number;
  /** ISO 8601. */
  readonly expires?: string;
  readonly admin?: boolean;
}

async function openConfigured(options: WorkOptions): Promise<Store> {
  return configuredStore(await loadSettings(options));
}

/** `key create`: prints nothing but the secret to stdout (with --json, the key), for programs to read. */
export async function create(name: string, options: CreateOptions): Promise<ExitCode> {
  const { models, usdPerDay = null, requestsPerMinute = null, expires = null, admin = false, json } = options;
  const store = await openConfigured(options);
  const limits = { usdPerDay, requestsPerMinute, expiresAt: expires };
  const { key, secret } = await createKey(store, {
    ...limits,
    name,
    isAdmin: admin,
    models: models === undefined ? null : [...models],
  });
  await noteAudit(store, { ...COMMAND_LINE, action: 'key.create', target: key.id, detail: { name } });
  const remedy = `make another key, and revoke this one: temporal-conductor key revoke ${key.id}`;
  await print(json ? toJson({ ...shown(key), secret }) : secret, { remedy });
  say(
    `Made key ${name} (${key.id}). Its secret is shown only once and stored nowhere: keep it where you keep passwords.`,
  );
  return EXIT.answered;
}

/** `key list`: prints all keys, with what each has spent and reserved today (UTC). */
export async function printKeys(options: JsonOptions): Promise<ExitCode> {
  const store = await openConfigured(options);
  const keys = await listKeys(store);
  const now = Date.now();
  const rows = await Promise.all(
    keys.map(async (key) => [key, await readSpending(store, key.id, now)] as const),
  );
  if (options.json)
    await print(toJson(rows.map(([key, today]) => ({ ...shown(key), ...spendingInUsd(today) }))));
  else if (keys.length === 0) say('No keys yet: "temporal-conductor key create NAME" makes one.');
  else await print(rows.flatMap(renderKey).join('\n'), { painted: true });
  return EXIT.answered;
}

/** `key revoke`: revokes a key; running gateways refuse it within seconds. */
export async function revoke(nameOrId: string, options: WorkOptions): Promise<ExitCode> {
  const store = await openConfigured(options);
  const { id, name } = await revokeKey(store, nameOrId);
  await noteAudit(store, { ...COMMAND_LINE, action: 'key.revoke', target: id, detail: { name } });
  say(`Revoked key ${name} (${id}). Running gateways refuse it within 5 s; running solves continue.`);
  return EXIT.answered;
}

interface LogOptions extends JsonOptions {
  /** A date, `YYYY-MM-DD`. */
  readonly since?: string;
}

/** `key log`: prints the audit log, oldest entry first. */
export async function log(options: LogOptions): Promise<ExitCode> {
  const store = await openConfigured(options);
  const now = Date.now();
  const { since = dateOf(now - 30 * DAY_MS), json } = options;
  const entries = [];
  for await (const entry of readAudit(store, { since, until: dateOf(now) })) {
    entries.push(entry);
    if (!json) await print(renderEntry(entry));
  }
  if (json) await print(toJson(entries));
  else if (entries.length === 0) say(`No changes since ${since}.`);
  return EXIT.answered;
}

/** Hides the digest: JSON leaves out undefined fields. */
function shown(key: Key): Omit<Key, 'digest'> & { readonly digest: undefined } {
  return { ...key, digest: undefined };
}

function renderKey([key, spending]: readonly [Key, DaySpending]): string[] {
  const paint = paintFor(process.stdout);
  const { id, name, isAdmin, models, requestsPerMinute } = key;
  const facts = [
    id,
    models === null ? 'all models' : oneLine(models.join(', '), Infinity),
    describeBudget(key, spending),
    requestsPerMinute === null ? '' : `${requestsPerMinute} requests a minute`,
    isAdmin ? 'admin' : '',
    describeEnd(key),
  ];
  const state = isUsable(key) ? 'done' : 'failed';
  const [first = '', ...rest] = headLine(paint, name, facts)((columnsOf(process.stdout) ?? 160) - 2);
  return [`${strokeOf(state, paint)(MARKS[state])} ${first}`, ...rest.map((line) => `  ${line}`)];
}

function describeBudget({ usdPerDay }: Key, today: DaySpending): string {
  if (usdPerDay === null) return 'no daily limit';
  const held = describeUsd(today.heldNanoUsd / 1e9);
  return `${describeUsd(usdPerDay)} a day, today ${describeSpent(today)} and ${held} reserved`;
}

function describeEnd({ revokedAt, expiresAt }: Key): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`;
  if (expiresAt === null) return 'never expires';
  return `${Date.parse(expiresAt) > Date.now() ? 'expires' : 'expired'} ${expiresAt}`;
}

function renderEntry({ at, keyId, keyName, action, target, detail }: AuditEntry): string {
  const who = keyId === null ? keyName : `${keyName} (${keyId})`;
  const facts = detail === undefined ? [] : [JSON.stringify(detail)];
  return oneLine([at, who, action, target, ...facts].join(' · '), Infinity);
}
