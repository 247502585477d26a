import { hash, randomBytes } from 'node:crypto';
import type { Context } from 'hono';
import {
  type AttachedSolve,
  mayHaveArrived,
  type SolveHandle,
  type SolveRequest,
  type StartOptions,
  unlessNotFound,
} from '../../client';
import { isRecord } from '../../plan/validate';
import type { SolveResult } from '../../protocol/solve';
import type { SpanIds } from '../../telemetry/spans';
import { noteAudit } from '../access/audit';
import { type Held, heldBy, type HeldRun, holdRun } from '../access/hold-run';
import { callerNamedIn } from '../awaited';
import type { Env, Gateway } from '../gateway';
import type { Key } from '../access/keys';
import { Refusal } from '../refusal';
import type { Handover } from './handovers';
import { checkRequest } from './request-of';

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
  { budgets, awaited }: Pick<Gateway, 'budgets' | 'awaited'>,
  key: Key,
  handle: Handle,
): Handle {
  const result = async (): Promise<SolveResult> => {
    const ended = await handle.result();
    awaited.noteEnd(ended);
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

/** A run to start, independent of the API that asks for it. */
interface Wanted extends Pick<SolveRequest, 'pool' | 'limits'> {
  readonly model: string;
  /** Notes kept with the run, for later requests about it. */
  readonly memo?: StartOptions['memo'];
  readonly start: (id: string, held: Held, options: StartOptions) => Promise<SolveHandle>;
  /** The run is cancelled if its client leaves before its answer is sent. */
  readonly endsWithClient?: boolean | undefined;
  /** Details for the audit log. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** Returns the span of a request's client. */
export function callerOf({ req }: Context<Env>): string | undefined {
  return callerNamedIn(req.header('traceparent'));
}

/** Starts or finds the solve that the client of a request waits for, within the span of that wait. */
export function whileAwaited<Solve extends { readonly id: string }>(
  c: Context<Env>,
  { awaited }: Gateway,
  start: (traceparent: string | undefined) => Promise<Solve>,
): Promise<Solve> {
  const waiting = {
    caller: callerOf(c),
    response: c.env.outgoing,
    onSpan: (ids: SpanIds) => {
      c.set('span', ids);
    },
    refused: () => c.get('refused'),
  };
  return awaited.during(waiting, start);
}

/** Starts the solve that a request asks for, or finds the one that an earlier attempt of it started. @throws Refusal */
export function startSolve(
  c: Context<Env>,
  gateway: Gateway,
  request: SolveRequest,
  { model, memo, endsWithClient }: Pick<Wanted, 'model' | 'memo' | 'endsWithClient'>,
): Promise<Started> {
  checkRequest(gateway.config, request);
  const { pool, limits } = request;
  const start: Wanted['start'] = (id, held, options) =>
    gateway.conductor.start({ ...request, ...held, live: true }, id, options);
  return startRun(c, gateway, { model, memo, endsWithClient, pool, limits, start });
}

/** Starts a run within its key's budget, once per request however often it is sent. @throws Refusal */
export async function startRun(c: Context<Env>, gateway: Gateway, wanted: Wanted): Promise<Started> {
  const key = c.get('key');
  const digest = await digestOfRequest(c);
  const { id, isRepeated } = await nameRun(c, gateway, { digest, ...wanted });
  const named = { key, id, digest };
  for (;;) {
    const before = isRepeated ? await findStarted(gateway, named) : null;
    if (before !== null) return before;
    const held = heldBy(key, gateway.config, wanted.limits);
    await gateway.workers.require();
    const may = await holdRun(gateway, key, id, { pool: wanted.pool, held });
    // If there is none, a concurrent request has started the run.
    if (may !== null) return startHeld(gateway, named, wanted, may);
  }
}

/** A run to be, by the request that asks for it. */
interface RunToBe {
  readonly key: Key;
  readonly id: string;
  readonly digest: string;
}

async function startHeld(
  gateway: Gateway,
  named: RunToBe,
  { model, memo, start, detail }: Wanted,
  { held, reservation }: HeldRun,
): Promise<Started> {
  const { key, id, digest } = named;
  let handle: SolveHandle;
  try {
    const noted = { memo: { ...memo, digest, model }, keyName: key.name };
    handle = await start(id, held, noted);
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

/** The run that a request is for. */
type NamedRun = Pick<Handover, 'id' | 'isRepeated'>;

/**
 * Returns the run for a request. A client names it by an Idempotency-Key, or sends the request again: its header may
 * say that it does, else the answer broke off.
 */
async function nameRun(
  c: Context<Env>,
  { handovers, closing }: Gateway,
  { digest, endsWithClient }: { readonly digest: string } & Pick<Wanted, 'endsWithClient'>,
): Promise<NamedRun> {
  const key = c.get('key');
  const given = c.req.header('idempotency-key');
  if (given !== undefined)
    return { id: `${prefixOf(key)}${digestOf(key.id, given).slice(0, 24)}`, isRepeated: true };
  const handover = await handovers.begin({
    digest,
    isRetry: Number(c.req.header('x-stainless-retry-count') ?? 0) > 0,
    newId: () => `${prefixOf(key)}${randomBytes(12).toString('hex')}`,
  });
  const { outgoing } = c.env;
  const end = (): void => {
    const isCancelled = endsWithClient === true && !closing.over.aborted;
    if (outgoing.writableFinished) handover.end(sentState(c.get('refused')));
    else handover.end(isCancelled ? 'left' : 'cut');
  };
  if (outgoing.closed) end();
  else outgoing.once('close', end);
  return handover;
}

/** Returns what was sent: an error that invites a retry leaves the request without an answer. */
function sentState(refused: Refusal | undefined): 'whole' | 'failed' | 'cut' {
  if (refused === undefined) return 'whole';
  return refused.retryAfterSeconds === null ? 'failed' : 'cut';
}

/** Fields of a request about how its answer is sent: clients change them from one attempt to the next. */
const ABOUT_SENDING = ['stream', 'stream_options'];

/** Returns a digest of who asks where for what, whatever the order of the fields. */
async function digestOfRequest({ req, get }: Context<Env>): Promise<string> {
  const body = await req.json<unknown>();
  const sorted = JSON.stringify(isRecord(body) ? askedIn(body) : {}, (_, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort()) : value,
  );
  return digestOf('request', get('key').id, req.path, sorted);
}

/** Returns what decides an answer. Codex sends back the thoughts of an answer that broke off, which nobody reads. */
function askedIn({ input, ...body }: Readonly<Record<string, unknown>>): object {
  const asked = Object.entries(body).filter(([name]) => !ABOUT_SENDING.includes(name));
  const said = Array.isArray(input)
    ? input.filter((item) => !isRecord(item) || item.type !== 'reasoning')
    : input;
  return { ...Object.fromEntries(asked), input: said };
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
