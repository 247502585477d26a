import type { Call } from '../protocol/solve';
import type { Text } from '../protocol/text';
import type { TakenTurn } from '../protocol/tool-use';
import { type Entries, readStoredJson, type Store } from './store';
import { holdsText } from './texts';

/**
 * Payment that was, or may have been, made. There is one row per request to a model, and per call of an activity or
 * workflow that has a price. A row is written before the call and never removed. If the process dies, the row stays as
 * it was opened: with `nanoUsd: null`, which makes every sum a lower bound, or with the price of such a call.
 */
export interface LedgerRow extends Call {
  readonly rootId: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly priceVersion: string | null;
  /** Amount that the provider's prompt cache saved (10⁻⁹ USD), negative if it cost more; absent if zero. */
  readonly savedNanoUsd?: number;
  readonly startedAt: string;
  /** Stays null if the process of the request died. */
  readonly endedAt: string | null;
}

/** Fields that all rows of one call share while they are open. */
export type OpenRow = Omit<LedgerRow, 'attempt' | 'startedAt'>;

/** Picks the fields of a row that the run's own trace shows. */
export function callOf(row: LedgerRow): Call {
  const { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd } = row;
  const call = { callId, purpose, round, step, attempt, worker, model, error, usage, nanoUsd };
  const { reportedNanoUsd } = row;
  return reportedNanoUsd === undefined ? call : { ...call, reportedNanoUsd };
}

/** Opens the row of one attempt. Returns false if that attempt has a row already. */
export function createRow(store: Store, row: LedgerRow): Promise<boolean> {
  return store.create(rowKey(row), Buffer.from(JSON.stringify(row)));
}

export function writeRow(store: Store, row: LedgerRow): Promise<void> {
  return store.write(rowKey(row), Buffer.from(JSON.stringify(row)));
}

export async function readRow(store: Store, key: string): Promise<LedgerRow | null> {
  return (await readStoredJson(store, key)) as LedgerRow | null;
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

function rowKey(row: LedgerRow): string {
  return `${callFolder(row)}${row.attempt}.json`;
}

function callFolder({ runId, callId }: Pick<LedgerRow, 'runId' | 'callId'>): string {
  return `ledger/${runId}/${callId}/`;
}

/** Usable answer of a model with the completed row of its attempt, kept before it is reported to the workflow. */
export interface KeptAnswer {
  readonly output: Text;
  readonly thoughts?: Text;
  readonly cut?: true;
  readonly turn?: TakenTurn;
  readonly dropped: readonly string[];
  readonly row: LedgerRow & { readonly endedAt: string };
}

/**
 * Keeps an answer under its call id, with its texts and its row: the call is not paid for again after a crash. The first
 * answer kept is final and is returned; it may come from another attempt that ran at the same time.
 */
export async function keepAnswer(store: Store, answer: KeptAnswer, texts: Entries = []): Promise<KeptAnswer> {
  const { row } = answer;
  const key = answerKey('answers', row.callId);
  const [bytes, closed] = [answer, row].map((each) => Buffer.from(JSON.stringify(each))) as [Buffer, Buffer];
  if (await store.createWith?.(key, bytes, [...texts, [rowKey(row), closed]])) return answer;
  // One by one: what an answer refers to comes before it, and the end of its row, which says that no answer is to come,
  // after it.
  await Promise.all(texts.map((text) => store.write(...text)));
  const first = (await store.create(key, bytes)) ? answer : await findAnswer(store, row.callId);
  if (first === null) await store.write(key, bytes);
  await writeRow(store, row);
  return first ?? answer;
}

/** Returns the answer that an earlier attempt of this call received, if its text still exists. */
export async function findAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  const answer = await readKeptAnswer(store, callId);
  if (answer === null) return null;
  const texts = [answer.output, ...(answer.turn ? [answer.turn.ref] : [])];
  const held = await Promise.all(texts.map((text) => holdsText(store, text)));
  return held.every(Boolean) ? answer : null;
}

export async function readKeptAnswer(store: Store, callId: string): Promise<KeptAnswer | null> {
  return (await readStoredJson(store, answerKey('answers', callId))) as KeptAnswer | null;
}

export interface BegunAnswer {
  readonly callId: string;
  /** Attempt whose ledger row pays for the answer. The answer is over when that row is completed. */
  readonly attempt: number;
  readonly id: string;
  /** When it was begun, by the clock of Temporal's server, in ms since 1970. */
  readonly begunAt: number;
}

/** Keeps the id of a background answer under its call id, so that a crash loses only the wait for the answer. */
export function keepBegun(store: Store, begun: BegunAnswer): Promise<void> {
  return store.write(answerKey('background', begun.callId), Buffer.from(JSON.stringify(begun)));
}

/** Returns the last background answer started for this call; it may be over. */
export async function findBegun(store: Store, callId: string): Promise<BegunAnswer | null> {
  return (await readStoredJson(store, answerKey('background', callId))) as BegunAnswer | null;
}

function answerKey(folder: string, callId: string): string {
  return `${folder}/${callId.slice(0, 2)}/${callId}.json`;
}
