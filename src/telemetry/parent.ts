import { hash } from 'node:crypto';
import type { SpanContext } from '@opentelemetry/api';
import { TRACEPARENT } from '../protocol/rules';

const SAMPLED = 1;

/** Reads a `traceparent` of version 00 (https://www.w3.org/TR/trace-context); null: it names no span. */
export function spanNamedBy(traceparent: string | undefined): SpanContext | null {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return null;
  return { traceId, spanId, traceFlags: parseInt(flags, 16) & SAMPLED, isRemote: true };
}

export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

/**
 * Returns the parent of the spans of a run that nobody's trace began: all processes that work for the run find the same
 * one, which no backend ever receives.
 */
export function spanOfRun(namespace: string, rootId: string): SpanContext {
  const digest = hash('sha256', JSON.stringify(['temporal-conductor', namespace, rootId]));
  return {
    traceId: digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    traceFlags: SAMPLED,
    isRemote: true,
  };
}
