import type { ServerResponse } from 'node:http';

/** Body of a response. A stream's length is not announced. */
export interface Payload {
  readonly type: 'application/json' | 'text/event-stream';
  readonly bytes: Buffer;
}

/** Event of a stream; vendors that name events repeat the name in the data. */
export interface StreamEvent {
  readonly name?: string;
  readonly data: object | '[DONE]';
}

export function jsonPayload(body: object): Payload {
  return { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) };
}

export function streamPayload(events: readonly StreamEvent[]): Payload {
  return { type: 'text/event-stream', bytes: Buffer.from(events.map(encodeEvent).join('')) };
}

function encodeEvent({ name, data }: StreamEvent): string {
  const text = data === '[DONE]' ? data : JSON.stringify(data);
  return name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`;
}

const PIECE_CHARACTERS = 50;
const MOST_PIECES = 400;

/** Cuts a text between characters: a short one into four, a longer one into pieces of 50 characters, at most 400. */
export function piecesOf(text: string): string[] {
  const usual = Math.min(PIECE_CHARACTERS, Math.ceil(text.length / 4));
  const size = Math.max(usual, Math.ceil(text.length / MOST_PIECES));
  const pieces: string[] = [];
  for (let from = 0; from < text.length; from += pieces.at(-1)?.length ?? size) {
    const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(from + size - 1));
    pieces.push(text.slice(from, from + size + (splitsPair ? 1 : 0)));
  }
  return pieces;
}

export function begin(response: ServerResponse, { type, bytes }: Payload): void {
  const isStream = type === 'text/event-stream';
  response.writeHead(200, { 'content-type': type, ...(!isStream && { 'content-length': bytes.length }) });
}

/** Sends a stream in chunks of one size, which may end within an event or a character; `share` in [0, 1) sets it. */
export function sendStream(response: ServerResponse, payload: Payload, share: number): void {
  begin(response, payload);
  const { bytes } = payload;
  const least = Math.max(LEAST_CHUNK, Math.ceil(bytes.length / MOST_CHUNKS));
  const size = least + Math.floor(share * least);
  for (let from = 0; from < bytes.length; from += size) response.write(bytes.subarray(from, from + size));
  response.end();
}

/** About the length of an event, so that there are about as many chunks as events. */
const LEAST_CHUNK = 128;
const MOST_CHUNKS = 2000;
