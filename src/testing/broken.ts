import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Reply } from './behaviour';
import type { BrokenFaultKind, FlawedFaultKind, SpoiledFaultKind } from './faults';
import type { WholeReply } from './wire/wire';

/** What a transport fault does to an answer. */
interface Breakage {
  /** Sends what is left of the body that was due; null: nothing, ever. */
  readonly send: ((response: ServerResponse, body: Buffer) => void) | null;
  /** Whether the model wrote the answer before it was lost, for which the provider sends a bill. */
  readonly isBilled: boolean;
}

/** The transport faults. */
export const BREAKAGES: Readonly<Record<BrokenFaultKind, Breakage>> = {
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
export function flawedReply(kind: FlawedFaultKind, reply: WholeReply): WholeReply {
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

/** Sends a JSON body piece by piece, the last one after `ms` milliseconds, for as long as somebody reads it. */
export async function drip(response: ServerResponse, body: Buffer, ms = DRIP_MS): Promise<void> {
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
export function spoiledReply(kind: SpoiledFaultKind, maxOutputTokens: number | null): Reply {
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
