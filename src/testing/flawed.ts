import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { FlawedFaultKind } from './faults';
import type { WholeReply } from './wire/wire';

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
