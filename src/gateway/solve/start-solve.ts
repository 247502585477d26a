import { hash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import { isGrpcServiceError } from '@temporalio/client';
import { z } from 'zod';
import {
  type AttachedSolve,
  type SolveHandle,
  type SolveRequest,
  type StartOptions,
  unlessNotFound,
} from '../../client';
import { resolveRun, unpricedOf } from '../../config/resolve-run';
import type { SolveResult } from '../../protocol/solve';
import { readRecord, writeRecord } from '../../store/records';
import type { Store } from '../../store/store';
import { noteAudit } from '../access/audit';
import type { DayReservation } from '../access/day-budget';
import { refuseExcess, rightsOf } from '../access/rights';
import type { Env, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { Refusal } from '../refusal';
import { checkRequest, noPrice } from './request-of';

export interface Started extends SolveHandle {
  /** Whether this request started the solve. If not, it was running or over already, and costs nothing more. */
  readonly isNew: boolean;
}

/** Returns the id prefix of a key's solves, which restricts the key to its own solves. */
export function prefixOf({ id }: Pick<Key, 'id'>): string {
  return `gw-${id}-`;
}

export function mayTouch(key: Key, solveId: string): boolean {
  return key.isAdmin || solveId.startsWith(prefixOf(key));
}

/** Returns a handle that books the cost of a solve, if it is the key's own, to the key's day budget before its result. */
export function booking<Handle extends SolveHandle>(
  { budgets }: Pick<Gateway, 'budgets'>,
  key: Key,
  handle: Handle,
): Handle {
  const result = async (): Promise<SolveResult> => {
    const ended = await handle.result();
    if (handle.id.startsWith(prefixOf(key))) {
      await budgets.settle(key, handle.id, ended);
    }
    return ended;
  };
  return { ...handle, result };
}

/** Books a solve whose caller does not wait for its end. On failure, it is booked when the day has no room left. */
export function bookLater({ usdPerDay }: Key, { result }: SolveHandle): void {
  if (usdPerDay !== null) void result().catch(() => undefined);
}

/** Limits of a run to start, and what its key may use. */
type Held = Pick<SolveRequest, 'limits' | 'rights'>;

/** A run to start, independent of the API that asks for it. */
interface Wanted extends Pick<SolveRequest, 'pool' | 'limits'> {
  readonly model: string;
  /** Notes kept with the run, for later requests about it. */
  readonly memo?: StartOptions['memo'];
  readonly start: (id: string, held: Held, options: StartOptions) => Promise<SolveHandle>;
  /** Details for the audit log. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Starts the solve that a request asks for, or finds the one that an earlier attempt of it started. @throws Refusal */
export function startSolve(
  c: Context<Env>,
  gateway: Gateway,
  request: SolveRequest,
  { model, memo }: Pick<Wanted, 'model' | 'memo'>,
): Promise<Started> {
  checkRequest(gateway.config, request);
  const { pool, limits } = request;
  const start: Wanted['start'] = (id, held, options) =>
    gateway.conductor.start({ ...request, ...held, live: true }, id, options);
  return startRun(c, gateway, { model, memo, pool, limits, start });
}

/** Starts a run within its key's budget, once per request however often it is sent. @throws Refusal */
export async function startRun(c: Context<Env>, gateway: Gateway, wanted: Wanted): Promise<Started> {
  const key = c.get('key');
  const digest = digestOf(key.id, c.req.path, await c.req.text());
  const { id, isRepeated } = await solveIdFor(c, gateway.store, digest);
  const named = { key, id, digest };
  for (;;) {
    const before = isRepeated ? await findStarted(gateway, named) : null;
    if (before !== null) return before;
    const held = { limits: wanted.limits, rights: rightsOf(key, gateway.config) };
    refuseExcess(gateway.config, held);
    await gateway.workers.require();
    const reservation = await reserve(gateway, named, wanted);
    // Without one, a concurrent request has started the run.
    if (reservation !== null) return startReserved(gateway, named, { ...wanted, held }, reservation);
  }
}

/** A run to be, by the request that asks for it. */
interface RunToBe {
  readonly key: Key;
  readonly id: string;
  readonly digest: string;
}

async function startReserved(
  gateway: Gateway,
  named: RunToBe,
  { model, memo, start, detail, held }: Wanted & { readonly held: Held },
  reservation: DayReservation,
): Promise<Started> {
  const { key, id, digest } = named;
  let handle: SolveHandle;
  try {
    const memoed = { memo: { ...memo, digest, model } };
    handle = await start(id, withReservation(held, reservation.nanoUsd), memoed);
  } catch (error) {
    // Whatever went wrong, the server knows whether there is a run now. Unless it says so, the reservation is kept.
    const found = await unlessNotFound(gateway.conductor.attach(id)).catch(() => undefined);
    if (found === undefined) throw error;
    if (found !== null) {
      await reservation.confirm();
      return joined(gateway, named, found);
    }
    if (!mayHaveArrived(error)) await reservation.withdraw();
    throw error;
  }
  await reservation.confirm();
  const audited = { keyId: key.id, keyName: key.name, target: id, ...(detail && { detail }) };
  await noteAudit(gateway.store, { ...audited, action: 'start' });
  gateway.metrics.solvesStarted += 1;
  return { ...booking(gateway, key, handle), isNew: true };
}

/** gRPC's codes that do not say what the server did: cancelled, unknown, deadline exceeded, internal, unavailable. */
const UNSURE: readonly unknown[] = [1, 2, 4, 13, 14];

/** Returns whether a request to start a run may yet reach the server, or have an effect there. */
function mayHaveArrived(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return [error, cause].some((each) => isGrpcServiceError(each) && UNSURE.includes(each.code));
}

/** Reserves a run's maximum cost from its key's day budget. Returns null if the run was started already. */
async function reserve(
  { config, budgets }: Gateway,
  { key, id }: RunToBe,
  { pool, limits }: Pick<Wanted, 'pool' | 'limits'>,
): Promise<DayReservation | null> {
  const unpriced = key.usdPerDay === null ? [] : unpricedOf(resolveRun(config, { pool, limits }));
  if (unpriced.length > 0) throw noPrice(`the budget of key ${key.name}`, unpriced);
  const usd = limits?.costUsd ?? config.limits.costUsd;
  return budgets.reserve(key, id, usd === null ? null : Math.round(usd * 1e9));
}

/** Limits the cost of a run, now and later, to what is reserved for it; null: its key has no budget. */
function withReservation({ limits, rights }: Held, nanoUsd: number | null): Held {
  if (nanoUsd === null) return { limits, rights };
  const held = rights && { ...rights, limits: { ...rights.limits, nanoUsd } };
  return { limits: { ...limits, costUsd: nanoUsd / 1e9 }, rights: held };
}

/** Ids of the last solves by request; each lives half an hour, longer than a client's attempts with the waits between. */
export const ASKED = { folder: 'gateway/asked/', lifeMs: 30 * 60 * 1000 };

const askedSchema = z.object({ id: z.string(), at: z.string() });

/**
 * Returns the id of the solve for a request, and whether an earlier attempt may have started it. Clients of OpenAI and
 * Anthropic retry a request that timed out or broke off. A header marks it as a retry, but not of which request: it is
 * taken for the last one with the same key, path and body.
 */
async function solveIdFor(c: Context<Env>, store: Store, digest: string) {
  const key = c.get('key');
  const given = c.req.header('idempotency-key');
  if (given !== undefined)
    return { id: `${prefixOf(key)}${digestOf(key.id, given).slice(0, 24)}`, isRepeated: true };
  const place = `${ASKED.folder}${key.id}/${digest}.json`;
  // Clients that count attempts send this header on the first one as well; retries by others are not recognized.
  const retries = c.req.header('x-stainless-retry-count');
  const last = Number(retries ?? 0) > 0 ? await readRecord(store, place, askedSchema) : null;
  if (last !== null && Date.now() - Date.parse(last.at) <= ASKED.lifeMs)
    return { id: last.id, isRepeated: true };
  const id = `${prefixOf(key)}${randomBytes(12).toString('hex')}`;
  // Noted before the start, so that a retry finds the id whatever becomes of this request.
  if (retries !== undefined) await writeRecord(store, place, { id, at: new Date().toISOString() });
  return { id, isRepeated: false };
}

/** Returns the run that an earlier request of the same name started. @throws as `joined` */
async function findStarted(gateway: Gateway, named: RunToBe): Promise<Started | null> {
  const found = await unlessNotFound(gateway.conductor.attach(named.id));
  return found && joined(gateway, named, found);
}

/** @throws Refusal if the idempotency key was used for another request */
function joined(gateway: Gateway, { key, digest }: RunToBe, found: AttachedSolve): Started {
  if (found.memo.digest === digest) return { ...booking(gateway, key, found), isNew: false };
  const what = 'this Idempotency-Key was used for another request: use a new one for each';
  throw new Refusal(409, what, { reason: 'idempotency_key_reused' });
}

function digestOf(...parts: readonly string[]): string {
  return hash('sha256', JSON.stringify(parts));
}
