import type { ServerResponse } from 'node:http';
import type { BrokenFaultKind } from './faults';

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
