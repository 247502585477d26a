/** How much may be sent within any 60 seconds; Infinity: as much as one likes. */
export interface Rate {
  readonly requestsPerMinute: number;
  readonly tokensPerMinute: number;
}

/** A request as a minute remembers it. Its tokens are an estimate until its reply tells them. */
export interface Sent {
  /** Milliseconds on the clock of whoever asks. */
  readonly at: number;
  tokens: number;
}

export const MINUTE_MS = 60_000;

/**
 * What was sent within the last 60 seconds, and when more will fit.
 *
 * A sliding window and no bucket: a full bucket lets through twice its rate within its first minute, and vendors count.
 */
export class Minute {
  private sent: Sent[] = [];

  constructor(private readonly rate: Rate) {}

  /**
   * Milliseconds until a request of so many tokens fits; 0: it does now. One that is larger than a whole minute may hold
   * would wait for ever, so it goes when the minute is empty.
   */
  waitFor(tokens: number, now: number): number {
    this.sent = this.sent.filter(({ at }) => at + MINUTE_MS > now);
    let requestsOver = this.sent.length + 1 - this.rate.requestsPerMinute;
    let tokensOver =
      this.sent.reduce((sum, request) => sum + request.tokens, tokens) - this.rate.tokensPerMinute;
    let wait = 0;
    for (const request of this.sent) {
      if (requestsOver <= 0 && tokensOver <= 0) break;
      wait = request.at + MINUTE_MS - now;
      requestsOver -= 1;
      tokensOver -= request.tokens;
    }
    return wait;
  }

  /** Takes a request's place; whoever sends it may correct its tokens. */
  take(tokens: number, now: number): Sent {
    const request = { at: now, tokens };
    this.sent.push(request);
    return request;
  }
}
