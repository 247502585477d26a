import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Usage } from '../protocol/call';
import type { Answer, Reply, SimulatedRequest } from './behaviour';
import {
  type BrokenFaultKind,
  type ErrorFault,
  type Fault,
  type FlawedFault,
  type FlawedFaultKind,
  isErrorFault,
  isFlawedFault,
  isSpoiledFault,
  retryAfterHeaders,
  type SpoiledFaultKind,
} from './faults';
import type { RequestOutcome } from './request-log';
import type { SimulatedModel } from './simulated-model';
import { encodeFailed } from './wire/openai-responses';
import type { WholeReply, Wire } from './wire/wire';

/** An answer made ready for one request: what the log will call it, what it costs, and how to send it. */
export interface Delivery {
  readonly outcome: RequestOutcome;
  readonly usage: Usage | null;
  /** In milliseconds, beside the model's own latency. */
  readonly delayMs: number;
  /** What a response in the background ends as; null where none is started, since the request itself goes wrong. */
  readonly written: object | null;
  /** null: never. */
  readonly send: ((response: ServerResponse) => void) | null;
}

/** Lets a model answer; an answering function that throws is the test's mistake, and the client gets a 400. */
export function prepareAnswer(wire: Wire, request: SimulatedRequest, model: SimulatedModel): Delivery {
  let answer: Answer;
  let own: Reply;
  try {
    answer = model.next(request);
    own = typeof answer === 'object' && 'fault' in answer ? model.ownReply(request) : { text: '' };
  } catch (error) {
    return prepareRejection(wire, `The answering function of ${request.model} threw: ${String(error)}`);
  }
  if (typeof answer === 'string') return deliverReply(wire, request, { text: answer }, 'answered');
  return 'fault' in answer
    ? deliverFault(wire, request, answer, own)
    : deliverReply(wire, request, answer, 'answered');
}

/** What the vendor says to a request that is none. */
export function prepareRejection(wire: Wire, problem: string): Delivery {
  const { status, body } = wire.encodeError('bad-request', problem, null);
  return { outcome: 'rejected', usage: null, delayMs: 0, written: null, send: jsonSender(status, body) };
}

/** Sends a JSON body, its length in the header. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': bytes.length,
    ...headers,
  });
  response.end(bytes);
}

/** Makes one fault ready; `own` is what the model would say otherwise. */
export function deliverFault(wire: Wire, request: SimulatedRequest, fault: Fault, own: Reply): Delivery {
  if (isErrorFault(fault)) return deliverError(wire, request, fault);
  if (isFlawedFault(fault)) return deliverFlawed(wire, request, fault, own);
  if (!isSpoiledFault(fault)) return deliverBroken(wire, request, fault.fault);
  const reply = spoiledReply(fault.fault, request.maxOutputTokens);
  return deliverReply(wire, request, reply, `fault:${fault.fault}`);
}

function deliverReply(
  wire: Wire,
  request: SimulatedRequest,
  reply: Reply,
  outcome: RequestOutcome,
): Delivery {
  const whole = wholeReply(request, reply);
  const body = wire.encodeReply(whole);
  const { delayMs = 0 } = reply;
  return { outcome, usage: whole.usage, delayMs, written: body, send: jsonSender(200, body) };
}

function jsonSender(status: number, body: object): Delivery['send'] {
  return (response) => {
    sendJson(response, status, body);
  };
}

function deliverError(wire: Wire, request: SimulatedRequest, { late, ...error }: ErrorFault): Delivery {
  const { fault, retryAfter, message = `Simulated fault: ${fault}.` } = error;
  const inBody = retryAfter?.as === 'retry-info' ? retryAfter.ms : null;
  const { status, body } = wire.encodeError(fault, message, inBody);
  return {
    outcome: `fault:${fault}`,
    usage: null,
    delayMs: 0,
    written: late === true ? encodeFailed(request, fault, message) : null,
    send: (response) => {
      sendJson(response, status, body, retryAfterHeaders(retryAfter, Date.now()));
    },
  };
}

function deliverBroken(wire: Wire, request: SimulatedRequest, kind: BrokenFaultKind): Delivery {
  const whole = wholeReply(request, { text: 'This answer never arrives whole.' });
  const body = Buffer.from(JSON.stringify(wire.encodeReply(whole)));
  const { isBilled, send } = BREAKAGES[kind];
  return {
    outcome: `fault:${kind}`,
    usage: isBilled ? whole.usage : null,
    delayMs: 0,
    written: null,
    send:
      send &&
      ((response) => {
        send(response, body);
      }),
  };
}

function deliverFlawed(wire: Wire, request: SimulatedRequest, fault: FlawedFault, own: Reply): Delivery {
  const whole = flawedReply(fault.fault, wholeReply(request, own));
  const body = wire.encodeReply(whole);
  return {
    outcome: `fault:${fault.fault}`,
    usage: whole.usage,
    delayMs: own.delayMs ?? 0,
    written: body,
    send: (response) => {
      if (fault.fault === 'drip') void drip(response, Buffer.from(JSON.stringify(body)), fault.ms);
      else sendJson(response, 200, body);
    },
  };
}

/** Fills in what a reply leaves open. */
function wholeReply(request: SimulatedRequest, reply: Reply): WholeReply {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = reply.usage ?? {};
  const usage: Usage = {
    inputTokens: inputTokens ?? countTokens(request.text),
    outputTokens: outputTokens ?? countTokens(reply.text) + reasoningTokens,
    cachedInputTokens,
    reasoningTokens,
  };
  return {
    model: request.model,
    sequence: request.sequence,
    text: reply.text,
    finish: reply.finish ?? 'stop',
    refusal: reply.finish === 'refusal' ? (reply.refusal ?? 'I cannot help with that.') : null,
    usage,
    stated: usage,
  };
}

/** Four characters a token: no tokenizer's count, but the same count each time. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** What a transport fault does to an answer. */
interface Breakage {
  /** Sends what is left of the body that was due; null: nothing, ever. */
  readonly send: ((response: ServerResponse, body: Buffer) => void) | null;
  /** Whether the model wrote the answer before it was lost, for which the provider sends a bill. */
  readonly isBilled: boolean;
}

/** The transport faults. */
const BREAKAGES: Readonly<Record<BrokenFaultKind, Breakage>> = {
  hang: { isBilled: false, send: null },
  stall: {
    isBilled: true,
    send: (response, body) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': body.length });
      response.flushHeaders();
    },
  },
  reset: {
    isBilled: false,
    send: (response) => {
      response.socket?.resetAndDestroy();
    },
  },
  'cut-mid-body': {
    isBilled: true,
    // A plain close: a TCP reset could overtake the bytes already sent, so that clients would see one or the other.
    send: (response, body) => {
      response.writeHead(200, { ...JSON_TYPE, 'content-length': body.length });
      response.write(halfOf(body), () => response.socket?.destroy());
    },
  },
  truncated: {
    isBilled: true,
    send: (response, body) => {
      const half = halfOf(body);
      response.writeHead(200, { ...JSON_TYPE, 'content-length': half.length });
      response.end(half);
    },
  },
  'truncated-chunked': {
    isBilled: true,
    send: (response, body) => {
      response.writeHead(200, JSON_TYPE);
      response.write(halfOf(body));
      response.end();
    },
  },
  html: {
    isBilled: false,
    send: (response) => {
      sendPage(response, 200, 'Sign in', 'Please sign in to use this network.');
    },
  },
  'html-bad-gateway': {
    isBilled: true,
    send: (response) => {
      sendPage(response, 502, '502 Bad Gateway', 'The proxy got no valid answer from the server behind it.');
    },
  },
};

const JSON_TYPE = { 'content-type': 'application/json' };

function halfOf(body: Buffer): Buffer {
  return body.subarray(0, Math.floor(body.length / 2));
}

function sendPage(response: ServerResponse, status: number, title: string, text: string): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html>\n<html><head><title>${title}</title></head><body><p>${text}</p></body></html>`,
  );
}

/** Tokens that no text of a test has: a factor would leave an empty text at zero. */
const ABSURD_TOKENS = 12_345;
const PIECES = 20;
const DRIP_MS = 1000;

/** The answer as it goes out under a flawed fault: what it says of its tokens, and what is billed. */
function flawedReply(kind: FlawedFaultKind, reply: WholeReply): WholeReply {
  switch (kind) {
    case 'drip':
      return reply;
    case 'usage-missing':
      return { ...reply, stated: null };
    case 'usage-zero':
      return {
        ...reply,
        stated: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, reasoningTokens: 0 },
      };
    case 'usage-wrong': {
      const usage = { ...reply.usage, inputTokens: ABSURD_TOKENS, outputTokens: 2 * ABSURD_TOKENS };
      return { ...reply, usage, stated: usage };
    }
  }
}

/** Sends a JSON body piece by piece, the last one after `ms` milliseconds, for as long as it is read. */
async function drip(response: ServerResponse, body: Buffer, ms = DRIP_MS): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  const size = Math.ceil(body.length / PIECES);
  for (let start = 0; start < body.length && !response.destroyed; start += size) {
    await delay(ms / PIECES, undefined, { ref: false });
    response.write(body.subarray(start, start + size));
  }
  response.end();
}

const HUGE_BYTES = 2 * 1024 * 1024;
const REASONING_TOKENS = 64;

/** The reply that a spoiled fault stands for. `maxOutputTokens` is the request's own limit. */
function spoiledReply(kind: SpoiledFaultKind, maxOutputTokens: number | null): Reply {
  switch (kind) {
    case 'empty':
      return { text: '' };
    case 'refusal':
      return { text: '', finish: 'refusal' };
    case 'filtered':
      return { text: '', finish: 'filtered' };
    case 'length':
      return { text: 'This answer ends in the middle of a', finish: 'length' };
    case 'length-without-text': {
      const reasoningTokens = maxOutputTokens ?? REASONING_TOKENS;
      return { text: '', finish: 'length', usage: { outputTokens: reasoningTokens, reasoningTokens } };
    }
    case 'huge':
      return { text: 'words '.repeat(HUGE_BYTES / 6 + 1).slice(0, HUGE_BYTES) };
  }
}
