import type { ServerResponse } from 'node:http';
import type { Usage } from '../protocol/call';
import type { Answer, Reply, SimulatedRequest } from './behaviour';
import { BREAKAGES, drip, flawedReply, spoiledReply } from './broken';
import {
  type BrokenFaultKind,
  type ErrorFault,
  type Fault,
  type FlawedFault,
  isErrorFault,
  isFlawedFault,
  isSpoiledFault,
  retryAfterHeaders,
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
  /** What a response in the background ends as; null where none is begun, since the request itself goes wrong. */
  readonly written: object | null;
  /** null: never. */
  readonly send: ((response: ServerResponse) => void) | null;
}

/** Lets a model answer; an answering function that throws is the test's mistake, told to the client as a 400. */
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
  return {
    outcome: 'rejected',
    usage: null,
    delayMs: 0,
    written: null,
    send: (response) => {
      sendJson(response, status, body);
    },
  };
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
  return {
    outcome,
    usage: whole.usage,
    delayMs: reply.delayMs ?? 0,
    written: body,
    send: (response) => {
      sendJson(response, 200, body);
    },
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
  const usage = usageOf(request, reply);
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

function usageOf(request: SimulatedRequest, { text, usage = {} }: Reply): Usage {
  const reasoningTokens = usage.reasoningTokens ?? 0;
  return {
    inputTokens: usage.inputTokens ?? countTokens(request.text),
    outputTokens: usage.outputTokens ?? countTokens(text) + reasoningTokens,
    cachedInputTokens: usage.cachedInputTokens ?? 0,
    reasoningTokens,
  };
}

/** Four characters a token: no tokenizer's count, but the same count each time. */
function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
