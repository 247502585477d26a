import { createHash } from 'node:crypto';
import type { Info } from '@temporalio/activity';
import type { Allowance } from '../protocol/activity-contract';
import type { CallPurpose } from '../protocol/solve';
import type { CallContext } from './models/failure';
import type { ModelRequest } from './models/model';

/** One call to make: which model, what for, and the messages. */
export interface ModelCall extends Pick<
  ModelRequest,
  'card' | 'messages' | 'sharedCharacters' | 'maxOutputTokens' | 'outputSchema' | 'seed'
> {
  readonly rootId: string;
  /** Names the call, with its round, step and worker, in place of Temporal's ids. */
  readonly identity?: string;
  readonly purpose: CallPurpose;
  readonly round: number;
  readonly step: number | null;
  readonly worker: string;
  /** How long the request may take: what its card allows, or less. */
  readonly timeoutMs: number;
  readonly allowance: Allowance;
  /** Another worker is asked if this one fails, so there is no need to wait for it. */
  readonly hasFallback?: true;
}

/**
 * The name of one call: SHA-256 over workflow id, run id, activity id and everything that is sent.
 *
 * Retries of an activity share it, so the next attempt finds an answer kept under it; another activity, run or request
 * never does. A call with an identity of its own is named by that and its place in the plan instead, so another run
 * that repeats it finds the answer too, even where it finds the same model at another address.
 */
export function callIdOf(
  { workflowExecution, activityId }: Pick<Info, 'workflowExecution' | 'activityId'>,
  call: Omit<ModelCall, 'rootId' | 'purpose' | 'timeoutMs' | 'allowance'>,
): string {
  const { card, identity, round, step, worker, messages, maxOutputTokens, outputSchema, seed } = call;
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const place = identity === undefined ? [workflowId, runId, activityId] : [identity, round, step, worker];
  const { provider, model, api, temperature, effort } = card;
  const baseUrl = identity === undefined ? card.baseUrl : undefined;
  const settings = { provider, model, api, baseUrl, temperature, effort };
  const request = { ...settings, messages, maxOutputTokens, outputSchema, seed };
  return createHash('sha256')
    .update(JSON.stringify([...place, request], sortedKeys))
    .digest('hex');
}

/** JSON with keys in one order, so that equal requests have equal bytes. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Names the called model for the sentences of failures. */
export function contextOf(call: ModelCall, secret: string | null, signal: AbortSignal): CallContext {
  const { step, worker, timeoutMs, card } = call;
  const { provider, model } = card;
  return { worker: step === null ? null : worker, provider, model, signal, secret, timeoutMs };
}

/** The call as the providers take it. */
export function requestOf(
  { card, messages, sharedCharacters, maxOutputTokens, outputSchema, seed }: ModelCall,
  sending: Pick<ModelRequest, 'apiKey' | 'callId' | 'signal'>,
): ModelRequest {
  return { card, messages, sharedCharacters, maxOutputTokens, outputSchema, seed, ...sending };
}
