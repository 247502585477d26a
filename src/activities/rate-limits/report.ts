import type { LeftRunning } from '../call-in-background';
import type { Ended } from '../models/failure';
import type { RequestReport } from './limiter';

/** Report of a request that was not sent, or has not ended. */
export const NOTHING_LEARNT: RequestReport = { tokens: null, health: 'unknown' };

/** Returns what a finished request tells the model's rate limiter. */
export function rateReportOf(sent: Ended | LeftRunning): RequestReport {
  if (sent.kind === 'left-running') return NOTHING_LEARNT;
  const { inputTokens = 0, outputTokens = 0 } = sent.reply?.usage ?? {};
  // Servers that do not count tokens report 0, which no real request uses.
  const tokens = inputTokens + outputTokens || null;
  if (sent.kind === 'answered') return { tokens, health: 'good' };
  const { billed, health } = sent.failure;
  // Whatever wrote part of an answer works, however little it wrote and however the answer ended.
  return { tokens: billed === 'no' ? 0 : tokens, health: sent.reply === null ? health : 'good' };
}
