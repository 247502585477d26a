import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Usage } from '../protocol/solve';
import {
  BROKEN_FAULTS,
  type BrokenFaultKind,
  ERROR_FAULTS,
  type Fault,
  type FaultOf,
  FLAWED_FAULTS,
  type FlawedFaultKind,
  isFaultOf,
  retryAfterHeaders,
  type SpoiledFaultKind,
} from './faults';
import type { RequestOutcome } from './request-log';
import type { Reply, SimulatedModel, SimulatedRequest } from './simulated-model';
import { encodeFailed } from './wire/openai';
import type { WholeReply, Wire } from './wire/wire';

type Send = (response: ServerResponse) => void;

/** An answer made ready for one request: its name in the log, its cost, and how to send it. */
export interface Delivery {
  readonly outcome: RequestOutcome;
  readonly usage: Usage | null;
  /** In milliseconds, beside the model's own latency. */
  readonly delayMs: number;
  /** Final response in the background; null if none is started, since the request itself goes wrong. */
  readonly written: object | null;
  readonly send: Send | null;
}

/** Lets a model answer; an answering function that throws is the test's mistake, and the client gets a 400. */
export function prepareAnswer(wire: Wire, request: SimulatedRequest, model: SimulatedModel): Delivery {
  try {
    const answer = model.next(request);
    if (typeof answer === 'object' && 'fault' in answer) {
      return deliverFault(wire, request, answer, model.ownReply(request));
    }
    const reply = typeof answer === 'string' ? { text: answer } : answer;
    const usage = { ...cacheUsage(request, model), ...reply.usage };
    return deliverReply(wire, wholeReply(request, { ...reply, usage }), 'answered', reply.delayMs);
  } catch (error) {
    return prepareRejection(wire, `The answering function of ${request.model} threw: ${String(error)}`);
  }
}

export function prepareRejection(wire: Wire, problem: string): Delivery {
  const { status, body } = wire.encodeError('bad-request', problem, null);
  return { outcome: 'rejected', ...UNBILLED, send: jsonSender(status, body) };
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { ...JSON_TYPE, 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

/** Makes one fault ready; `own` is what the model would say otherwise. */
export function deliverFault(wire: Wire, request: SimulatedRequest, fault: Fault, own: Reply): Delivery {
  if (isFaultOf(ERROR_FAULTS, fault)) return deliverError(wire, request, fault);
  if (isFaultOf(BROKEN_FAULTS, fault)) return deliverBroken(wire, request, fault.fault);
  const outcome = `fault:${fault.fault}` as const;
  if (!isFaultOf(FLAWED_FAULTS, fault)) {
    const reply = spoiledReply(fault.fault, request.maxOutputTokens);
    return deliverReply(wire, wholeReply(request, reply), outcome);
  }
  const whole = flawedReply(fault.fault, wholeReply(request, own));
  const delivery = deliverReply(wire, whole, outcome, own.delayMs);
  if (fault.fault !== 'drip') return delivery;
  const body = Buffer.from(JSON.stringify(delivery.written));
  return { ...delivery, send: (response) => void drip(response, body, fault.ms) };
}

const JSON_TYPE = { 'content-type': 'application/json' };
const UNBILLED = { usage: null, delayMs: 0, written: null };

function deliverReply(wire: Wire, whole: WholeReply, outcome: RequestOutcome, delayMs = 0): Delivery {
  const body = wire.encodeReply(whole);
  return { outcome, usage: whole.usage, delayMs, written: body, send: jsonSender(200, body) };
}

function jsonSender(status: number, body: object, headers?: Readonly<Record<string, string>>): Send {
  return (response) => {
    sendJson(response, status, body, headers);
  };
}

function deliverError(
  wire: Wire,
  request: SimulatedRequest,
  { fault, retryAfter, late, message = `Simulated fault: ${fault}.` }: FaultOf<(typeof ERROR_FAULTS)[number]>,
): Delivery {
  const inBody = retryAfter?.as === 'retry-info' ? retryAfter.ms : null;
  const { status, body } = wire.encodeError(fault, message, inBody);
  return {
    ...UNBILLED,
    outcome: `fault:${fault}`,
    written: late === true ? encodeFailed(request, fault, message) : null,
    send: jsonSender(status, body, retryAfterHeaders(retryAfter, Date.now())),
  };
}

/** Faults that come before an answer is written, so nothing is billed. */
const UNWRITTEN: ReadonlySet<BrokenFaultKind> = new Set(['hang', 'reset', 'html']);

function deliverBroken(wire: Wire, request: SimulatedRequest, kind: BrokenFaultKind): Delivery {
  const whole = wholeReply(request, { text: 'This answer never arrives whole.' });
  const body = Buffer.from(JSON.stringify(wire.encodeReply(whole)));
  const send: Send = (response) => {
    if (kind !== 'hang') BREAKAGES[kind](response, body);
  };
  const usage = UNWRITTEN.has(kind) ? null : whole.usage;
  return { ...UNBILLED, outcome: `fault:${kind}`, usage, send: kind === 'hang' ? null : send };
}

/** Anthropic's least for a prefix that is kept. */
const LEAST_KEPT_TOKENS = 1024;

/** Writes the part of a prompt that is to be kept to the model's cache, or reads it there. */
function cacheUsage({ keptPrefix = '' }: SimulatedRequest, model: SimulatedModel): Partial<Usage> {
  const tokens = countTokens(keptPrefix);
  if (tokens < LEAST_KEPT_TOKENS) return {};
  return model.keep(keptPrefix) ? { cacheWriteTokens: tokens } : { cachedInputTokens: tokens };
}

function wholeReply({ model, sequence, text: prompt }: SimulatedRequest, reply: Reply): WholeReply {
  const { text, finish = 'stop', refusal = 'I cannot help with that.' } = reply;
  const { inputTokens, outputTokens, reasoningTokens = 0 } = reply.usage ?? {};
  const usage: Usage = {
    cachedInputTokens: 0,
    ...reply.usage,
    inputTokens: inputTokens ?? countTokens(prompt),
    outputTokens: outputTokens ?? countTokens(text) + reasoningTokens,
    reasoningTokens,
  };
  const declined = finish === 'refusal' ? refusal : null;
  return { model, sequence, text, finish, refusal: declined, usage, stated: usage };
}

/** Four characters a token: no tokenizer's count, but the same count each time. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

const BREAKAGES: Readonly<
  Record<Exclude<BrokenFaultKind, 'hang'>, (response: ServerResponse, body: Buffer) => void>
> = {
  stall: (response, body) => {
    begin(response, body);
    response.flushHeaders();
  },
  reset: (response) => response.socket?.resetAndDestroy(),
  // A plain close: a TCP reset could overtake the bytes already sent, so that clients would see one or the other.
  'cut-mid-body': (response, body) => {
    begin(response, body);
    response.write(halfOf(body), () => response.socket?.destroy());
  },
  truncated: (response, body) => {
    begin(response, halfOf(body));
    response.end(halfOf(body));
  },
  'truncated-chunked': (response, body) => {
    response.writeHead(200, JSON_TYPE);
    response.write(halfOf(body));
    response.end();
  },
  html: (response) => {
    sendPage(response, 200, 'Sign in', 'Please sign in to use this network.');
  },
  'html-bad-gateway': (response) => {
    sendPage(response, 502, '502 Bad Gateway', 'The proxy got no valid answer from the server behind it.');
  },
};

function begin(response: ServerResponse, { length }: Buffer): void {
  response.writeHead(200, { ...JSON_TYPE, 'content-length': length });
}

function halfOf(body: Buffer): Buffer {
  return body.subarray(0, Math.floor(body.length / 2));
}

function sendPage(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html>\n<html><head><title>${title}</title></head><body><p>${text}</p></body></html>`,
  );
}

const NO_TOKENS: Usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 };
/** More tokens than any text of a test has: a factor would leave an empty text at zero. */
const ABSURD_TOKENS = 12_345;

/** The answer as it goes out under a flawed fault: what it says of its tokens, and what is billed. */
function flawedReply(kind: FlawedFaultKind, reply: WholeReply): WholeReply {
  const absurd = { ...reply.usage, inputTokens: ABSURD_TOKENS, outputTokens: 2 * ABSURD_TOKENS };
  const flaws: Record<FlawedFaultKind, Partial<WholeReply>> = {
    drip: {},
    'usage-missing': { stated: null },
    'usage-zero': { stated: NO_TOKENS },
    'usage-wrong': { usage: absurd, stated: absurd },
  };
  return { ...reply, ...flaws[kind] };
}

const PIECES = 20;

/** Sends a JSON body piece by piece, the last one after `ms` milliseconds, for as long as it is read. */
async function drip(response: ServerResponse, body: Buffer, ms = 1000): Promise<void> {
  begin(response, body);
  const size = Math.ceil(body.length / PIECES);
  for (let start = 0; start < body.length && !response.destroyed; start += size) {
    await delay(ms / PIECES, undefined, { ref: false });
    response.write(body.subarray(start, start + size));
  }
  response.end();
}

const HUGE_BYTES = 2 * 1024 * 1024;

/** The reply that a spoiled fault stands for. `maxOutputTokens` is the request's own limit. */
function spoiledReply(kind: SpoiledFaultKind, maxOutputTokens: number | null): Reply {
  const reasoningTokens = maxOutputTokens ?? 64;
  const usage = { outputTokens: reasoningTokens, reasoningTokens };
  const replies: Record<SpoiledFaultKind, Reply> = {
    empty: { text: '' },
    refusal: { text: '', finish: 'refusal' },
    filtered: { text: '', finish: 'filtered' },
    length: { text: 'This answer ends in the middle of a', finish: 'length' },
    'length-without-text': { text: '', finish: 'length', usage },
    huge: { text: 'words '.repeat(HUGE_BYTES / 6 + 1).slice(0, HUGE_BYTES) },
  };
  return replies[kind];
}
