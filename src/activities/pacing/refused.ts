import { ApplicationFailure } from '@temporalio/activity';
import { FAILURES } from '../../protocol/failures';
import type { LedgerRow } from '../../store/ledger';
import { callDetails } from '../call-details';
import type { ModelCall } from '../model-call';
import type { GateSettings, Refusal } from './gate';

/**
 * The failure of a call that its gate turned away: no request was sent and no row opened, so it is no attempt.
 *
 * Temporal makes the call again when there is room. Only a worker that fails too often is not waited for where another
 * one stands in: there the failure is final, and the trace tells why the other one answered.
 */
export function refused(
  call: ModelCall,
  { reason, waitMs }: Refusal,
  settings: GateSettings,
  earlier: readonly LedgerRow[],
): ApplicationFailure {
  const isFinal = reason === 'circuit' && call.othersLeft === true;
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const then = isFinal ? 'Another worker stands in.' : `It will be asked in ${seconds} s.`;
  return ApplicationFailure.create({
    type: reason === 'circuit' ? FAILURES.circuitOpen : FAILURES.throttled,
    message: `${nameOf(call)} ${REASONS[reason](settings)}; no request was sent. ${then}`,
    nonRetryable: isFinal,
    details: [callDetails(call, earlier)],
    ...(!isFinal && { nextRetryDelay: waitMs }),
  });
}

const REASONS: Readonly<Record<Refusal['reason'], (settings: GateSettings) => string>> = {
  rate: ({ requestsPerMinute, tokensPerMinute }) =>
    `has had its ${rateOf(requestsPerMinute, tokensPerMinute)}`,
  concurrency: ({ concurrency }) =>
    `has as many requests of this process as it may at a time, ${concurrency}`,
  circuit: ({ circuit }) =>
    `failed ${circuit?.failures ?? 0} times in a row or more, and is left alone for a while`,
};

function rateOf(requests: number, tokens: number): string {
  const parts = [
    ...(requests < Infinity ? [`${requests} requests`] : []),
    ...(tokens < Infinity ? [`${tokens} tokens`] : []),
  ];
  return `${parts.join(' or ')} a minute from this process`;
}

function nameOf({ step, worker, card }: ModelCall): string {
  return `${step === null ? 'the Conductor' : `worker ${worker}`} (${card.provider} ${card.model})`;
}
