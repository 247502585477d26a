import type { Call } from '../protocol/solve';
import type { Text } from '../protocol/text';
import { readJson, type Store } from './store';
import { holdsText } from './texts';

/**
 * A payment that was, or may have been, made: one row per request to a model, and per call of an activity or workflow
 * that has a price, written before it is sent and never removed. A row whose process died stays as it was opened:
 * `nanoUsd: null`, which makes every sum "at least", or the price of such a call.
 */
export interface LedgerRow extends Call {
  readonly rootId: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly priceVersion: string | null;
  /** By how much the provider's prompt cache made it cheaper (10⁻⁹ USD), or dearer; absent where it did neither. */
  readonly savedNanoUsd?: number;
  readonly startedAt: string;
  /** Stays null if the process of the request died. */
  readonly endedAt: string | null;
}

/** Fields that all rows of one call share while they are open. */
export type OpenRow = Omit<LedgerRow, 'attempt' | 'startedAt'>;

/** The part of a row that the run's own trace shows. */
export function callOf(row: LedgerRow): Call {
  const { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd } = row;
  const call = { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd };
  const { reportedNanoUsd } = row;
  return reportedNanoUsd === undefined ? call : { ...call, reportedNanoUsd };
}

/** Opens the row of one attempt; false where a live attempt has that number already. */
export function createRow(store: Store, row: LedgerRow): Promise<boolean> {
  return store.create(keyOf(row), Buffer.from(JSON.stringify(row)));
}

export function writeRow(store: Store, row: LedgerRow): Promise<void> {
  return store.write(keyOf(row), Buffer.from(JSON.stringify(row)));
}

export async function readRow(store: Store, key: string): Promise<LedgerRow | null> {
  return (await readJson(store, key)) as LedgerRow | null;
}

export async function rowsOfCall(store: Store, call: OpenRow): Promise<LedgerRow[]> {
  const rows = await Promise.all((await store.list(callFolder(call))).map((key) => readRow(store, key)));
  return rows.filter((row) => row !== null).sort((a, b) => a.attempt - b.attempt);
}

export function rowKeys(store: Store, runId: string): Promise<string[]> {
  return store.list(`ledger/${runId}/`);
}

export function rowPlace(key: string): Pick<LedgerRow, 'runId' | 'callId' | 'attempt'> {
  const [, runId = '', callId = '', attempt = ''] = key.split('/');
  return { runId, callId, attempt: parseInt(attempt, 10) };
}

/** The key of every row, as the store finds them: there may be millions. */
export async function* streamRowKeys(store: Store): AsyncGenerator<string> {
  let run = '';
  let seen = new Set<string>();
  for await (const { key } of store.entries('ledger/')) {
    const [, runId = ''] = key.split('/');
    if (runId !== run) [run, seen] = [runId, new Set()];
    // During a change of encryption keys, an object may lie there twice, both times in the folder of its run.
    if (!seen.has(key)) yield key;
    seen.add(key);
  }
}

function keyOf(row: LedgerRow): string {
  return `${callFolder(row)}${row.attempt}.json`;
}

function callFolder({ runId, callId }: Pick<LedgerRow, 'runId' | 'callId'>): string {
  return `ledger/${runId}/${callId}/`;
}

/** A usable answer of a model, with the completed row of its attempt, kept before it is reported to the workflow. */
export interface KeptAnswer {
  readonly output: Text;
  readonly cut?: true;
  readonly dropped: readonly string[];
  readonly row: LedgerRow & { readonly endedAt: string };
}

/**
 * Keeps an answer under its call id: from then on, no crash can have the call bought again. The first to be kept is the
 * call's for good, and is returned: it may be of another attempt that was under way as well.
 */
export async function keepAnswer(store: Store, answer: KeptAnswer): Promise<KeptAnswer> {
  const { callId } = answer.row;
  const key = answerKey('answers', callId);
  const bytes = Buffer.from(JSON.stringify(answer));
  if (await store.create(key, bytes)) return answer;
  const first = await findAnswer(store, callId);
  if (first === null) await store.write(key, bytes);
  return first ?? answer;
}

/** The answer that an earlier attempt of this call was given, if its text is still there. */
export async function findAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  const answer = await readAnswer(store, callId);
  return answer !== null && (await holdsText(store, answer.output)) ? answer : null;
}

export async function readAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  return (await readJson(store, answerKey('answers', callId))) as KeptAnswer | null;
}

export interface BegunAnswer {
  readonly callId: string;
  /** Attempt whose ledger row pays for it. It is over when that row is completed. */
  readonly attempt: number;
  readonly id: string;
}

/** Keeps the id under its call id: from then on, a crash loses the wait for an answer and not the answer. */
export function keepBegun(store: Store, begun: BegunAnswer): Promise<void> {
  return store.write(answerKey('background', begun.callId), Buffer.from(JSON.stringify(begun)));
}

/** The last answer that was started for this call; it may be over. */
export async function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  return (await readJson(store, answerKey('background', callId))) as BegunAnswer | null;
}

function answerKey(folder: string, callId: string): string {
  return `${folder}/${callId.slice(0, 2)}/${callId}.json`;
}
