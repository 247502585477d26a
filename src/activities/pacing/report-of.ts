import { FAILURES, type FailureType } from '../../protocol/failures';
import { outcomeOf, type SentRequest } from '../send-request';
import type { LeftRunning } from '../stop-waiting';
import type { Report } from './gate';

/** What a model does that is out of order. Any other answer, a 401 or a refusal too, shows that somebody is there. */
const OUT_OF_ORDER: ReadonlySet<FailureType> = new Set([
  FAILURES.unavailable,
  FAILURES.timeout,
  FAILURES.interrupted,
  FAILURES.badResponse,
]);

/** Of a request that never came so far as to tell anything. */
export const NOTHING_LEARNT: Report = { tokens: null, health: 'unknown' };

/** What a request that is over tells the gate of its model. */
export function reportOf(sent: SentRequest | LeftRunning): Report {
  if (sent.kind === 'left-running') return NOTHING_LEARNT;
  return { tokens: tokensOf(sent), health: healthOf(sent) };
}

function healthOf(sent: SentRequest): Report['health'] {
  if (sent.kind === 'broken-off') return 'unknown';
  return sent.kind === 'failed' && OUT_OF_ORDER.has(sent.failure.type) ? 'bad' : 'good';
}

/** Servers that do not count say 0, which no request comes to: the estimate is better. */
function tokensOf(sent: SentRequest): number | null {
  const { usage, billed } = outcomeOf(sent);
  if (billed === 'no') return 0;
  const counted = usage === null ? 0 : usage.inputTokens + usage.outputTokens;
  return counted > 0 ? counted : null;
}
