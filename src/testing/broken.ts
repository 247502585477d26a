import type { ServerResponse } from 'node:http';
import type { BrokenFaultKind } from './faults';

type Break = (response: ServerResponse, body: Buffer) => void;

/** How each transport fault treats the body that should have been sent. */
export const BREAKS: Readonly<Record<BrokenFaultKind, Break | null>> = {
  hang: null,
  reset: (response) => {
    response.socket?.resetAndDestroy();
  },
  // A plain close: a TCP reset could overtake the bytes already sent, so that clients would see one or the other.
  'cut-mid-body': (response, body) => {
    response.writeHead(200, { ...JSON_TYPE, 'content-length': body.length });
    response.write(halfOf(body), () => response.socket?.destroy());
  },
  truncated: (response, body) => {
    const half = halfOf(body);
    response.writeHead(200, { ...JSON_TYPE, 'content-length': half.length });
    response.end(half);
  },
  'truncated-chunked': (response, body) => {
    response.writeHead(200, JSON_TYPE);
    response.write(halfOf(body));
    response.end();
  },
  html: (response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end('<!doctype html><title>Sign in</title><p>Please sign in to use this network.</p>');
  },
};

/** Whether the model wrote an answer before it was lost, for which the provider sends a bill. */
export function isBilled(kind: BrokenFaultKind): boolean {
  return kind === 'cut-mid-body' || kind === 'truncated' || kind === 'truncated-chunked';
}

const JSON_TYPE = { 'content-type': 'application/json' };

function halfOf(body: Buffer): Buffer {
  return body.subarray(0, Math.floor(body.length / 2));
}
