import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Usage } from '../protocol/solve';
import {
  BREAKAGES,
  type BrokenFaultKind,
  type ErrorFaultKind,
  ERRORS,
  type Fault,
  FLAWS,
  isIn,
  retryAfterHeaders,
  SPOILED,
} from './faults';
import type { RequestOutcome } from './request-log';
import { draw, type Reply, type SimulatedModel, type SimulatedRequest } from './simulated-model';
import { begin, jsonPayload, type Payload, piecesOf, sendStream, streamPayload } from './stream';
import { encodeFailed } from './wire/openai-responses';
import { inputText, type WholeReply, type Wire } from './wire/wire';

type Send = (response: ServerResponse) => void;

/** A prepared answer to one request. */
export interface Delivery {
  readonly outcome: RequestOutcome;
  readonly usage: Usage | null;
  readonly delayMs: number;
  /** Final background response; null if none is started, since the request itself fails. */
  readonly written: object | null;
  readonly send: Send | null;
}

/** Lets a model answer. If an answering function throws, the test is wrong, and the client gets a 400. */
export function prepareAnswer(wire: Wire, request: SimulatedRequest, model: SimulatedModel): Delivery {
  try {
    const answer = model.next(request);
    if (typeof answer === 'object' && 'fault' in answer) {
      return deliverFault(wire, request, answer, model.ownReply(request));
    }
    const reply = typeof answer === 'string' ? { text: answer } : answer;
    const usage = { ...cacheUsage(request, model), ...reply.usage };
    return deliverReply(wire, request, wholeReply(request, { ...reply, usage }), 'answered', reply.delayMs);
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
  const { type, bytes } = jsonPayload(body);
  response.writeHead(status, { 'content-type': type, 'content-length': bytes.length, ...headers });
  response.end(bytes);
}

/** Prepares a fault; `own` is what the model would answer otherwise. */
export function deliverFault(wire: Wire, request: SimulatedRequest, fault: Fault, own: Reply): Delivery {
  const kind = fault.fault;
  if (isIn(ERRORS, kind)) return deliverError(wire, request, kind, fault);
  if (isIn(BREAKAGES, kind)) return deliverBroken(wire, request, kind);
  const outcome = `fault:${kind}` as const;
  if (isIn(SPOILED, kind)) {
    const reasoningTokens = request.maxOutputTokens ?? 64;
    const usage = kind === 'length-without-text' ? { outputTokens: reasoningTokens, reasoningTokens } : {};
    return deliverReply(wire, request, wholeReply(request, { ...SPOILED[kind], usage }), outcome);
  }
  const whole = { ...wholeReply(request, own), ...FLAWS[kind] };
  const delivery = deliverReply(wire, request, whole, outcome, own.delayMs);
  if (kind !== 'drip') return delivery;
  const payload = payloadOf(wire, request, whole);
  return { ...delivery, send: (response) => void drip(response, payload, fault.ms) };
}

const UNBILLED = { usage: null, delayMs: 0, written: null };

function deliverReply(
  wire: Wire,
  request: SimulatedRequest,
  whole: WholeReply,
  outcome: RequestOutcome,
  delayMs = 0,
): Delivery {
  const made = { outcome, usage: whole.usage, delayMs };
  if (request.streams === undefined) {
    const body = wire.encodeReply(whole);
    return { ...made, written: body, send: jsonSender(200, body) };
  }
  const payload = payloadOf(wire, request, whole);
  const share = draw('chunks', request.sequence);
  const send: Send = (response) => {
    sendStream(response, payload, share);
  };
  return { ...made, written: null, send };
}

function payloadOf(wire: Wire, { streams }: SimulatedRequest, whole: WholeReply): Payload {
  if (streams === undefined) return jsonPayload(wire.encodeReply(whole));
  return streamPayload(wire.encodeStream(whole, piecesOf(whole.text), streams.usage));
}

function jsonSender(status: number, body: object, headers?: Readonly<Record<string, string>>): Send {
  return (response) => {
    sendJson(response, status, body, headers);
  };
}

function deliverError(
  wire: Wire,
  request: SimulatedRequest,
  kind: ErrorFaultKind,
  { retryAfter, late, message = `Simulated fault: ${kind}.` }: Fault,
): Delivery {
  const inBody = retryAfter?.as === 'retry-info' ? retryAfter.ms : null;
  const { status, body } = wire.encodeError(kind, message, inBody);
  return {
    ...UNBILLED,
    outcome: `fault:${kind}`,
    written: late === true ? encodeFailed(request, kind, message) : null,
    send: jsonSender(status, body, retryAfterHeaders(retryAfter, Date.now())),
  };
}

/** Faults that occur before an answer is written, so nothing is billed. */
const UNWRITTEN: ReadonlySet<BrokenFaultKind> = new Set(['hang', 'reset', 'html']);

function deliverBroken(wire: Wire, request: SimulatedRequest, kind: BrokenFaultKind): Delivery {
  const whole = wholeReply(request, { text: 'This answer never arrives whole.' });
  const body =
    kind === 'failed-midway' ? failedMidway(wire, request, whole) : payloadOf(wire, request, whole);
  const usage = UNWRITTEN.has(kind) ? null : whole.usage;
  const send: Send = (response) => void BREAKAGES[kind](response, body);
  return { ...UNBILLED, outcome: `fault:${kind}`, usage, send: kind === 'hang' ? null : send };
}

/** Vendors that name their events name the error as well. */
function failedMidway(wire: Wire, { streams }: SimulatedRequest, whole: WholeReply): Payload {
  const { body } = wire.encodeError('overloaded', 'The model is overloaded.', null);
  if (streams === undefined) return jsonPayload({ ...wire.encodeReply(whole), ...body });
  const events = wire.encodeStream(whole, piecesOf(whole.text), streams.usage);
  const isNamed = events.some(({ name }) => name !== undefined);
  const error = isNamed ? { name: 'error', data: { type: 'error', ...body } } : { data: body };
  return streamPayload([...events.slice(0, events.length / 2), error]);
}

/** Anthropic's minimum for a cached prefix. */
const LEAST_KEPT_TOKENS = 1024;

/** Writes a prompt's cacheable prefix to the model's cache, or reads it from there. */
function cacheUsage({ keptPrefix = '' }: SimulatedRequest, model: SimulatedModel): Partial<Usage> {
  const tokens = countTokens(keptPrefix);
  if (tokens < LEAST_KEPT_TOKENS) return {};
  return model.keep(keptPrefix) ? { cacheWriteTokens: tokens } : { cachedInputTokens: tokens };
}

function wholeReply({ model, sequence, text: prompt }: SimulatedRequest, reply: Reply): WholeReply {
  const { text, finish = 'stop', refusal = 'I cannot help with that.', thoughts = '', calls = [] } = reply;
  const { inputTokens, outputTokens, reasoningTokens = 0 } = reply.usage ?? {};
  const usage: Usage = {
    cachedInputTokens: 0,
    ...reply.usage,
    inputTokens: inputTokens ?? countTokens(prompt),
    outputTokens: outputTokens ?? countTokens(text + calls.map(inputText).join('')) + reasoningTokens,
    reasoningTokens,
  };
  const declined = finish === 'refusal' ? refusal : null;
  return { model, sequence, text, finish, refusal: declined, thoughts, calls, usage, stated: usage };
}

/** Counts four characters as a token: not a tokenizer's count, but always the same one. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

const PIECES = 20;

/** Sends a body in pieces, the last one after `ms` milliseconds, until the client closes the connection. */
async function drip(response: ServerResponse, payload: Payload, ms = 1000): Promise<void> {
  begin(response, payload);
  const { bytes } = payload;
  const size = Math.ceil(bytes.length / PIECES);
  for (let start = 0; start < bytes.length && !response.destroyed; start += size) {
    await delay(ms / PIECES, undefined, { ref: false });
    response.write(bytes.subarray(start, start + size));
  }
  response.end();
}
