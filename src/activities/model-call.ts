import { createHash } from 'node:crypto';
import type { Info } from '@temporalio/activity';
import type { Allowance } from '../protocol/activity-contract';
import type { CallPurpose } from '../protocol/call';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import type { Message, OutputSchema } from '../plan/plan';

/** One call to make: which model, what for, and the messages. */
export interface ModelCall {
  readonly rootId: string;
  /** Names the call, with its round, step and worker, in place of Temporal's ids. */
  readonly identity?: string;
  readonly purpose: CallPurpose;
  readonly round: number;
  readonly step: number | null;
  readonly worker: string;
  readonly card: ModelCard | ConductorCard;
  readonly messages: readonly Message[];
  /** See `ModelRequest`; it changes what is sent in no way that a model could see. */
  readonly sharedCharacters?: number;
  readonly maxOutputTokens: number;
  /** How long the request may take: what its card allows, or less. */
  readonly timeoutMs: number;
  readonly allowance: Allowance;
  readonly outputSchema?: OutputSchema;
  readonly seed?: number;
  /** Another worker is asked if this one fails, so there is no need to wait for it. */
  readonly hasFallback?: true;
}

/**
 * The part of a call that makes it the same call: everything that is sent, and not what it costs. A call with an
 * identity of its own may find the same model at another address when it is repeated.
 */
export function requestIdentity({ card, identity, ...call }: ModelCall): unknown {
  const { provider, model, api, temperature, effort } = card;
  const { messages, maxOutputTokens, outputSchema, seed } = call;
  const baseUrl = identity === undefined ? card.baseUrl : undefined;
  return {
    provider,
    model,
    api,
    baseUrl,
    temperature,
    effort,
    messages,
    maxOutputTokens,
    outputSchema,
    seed,
  };
}

/**
 * The name of one call: SHA-256 over workflow id, run id, activity id and the request itself.
 *
 * Retries of an activity share it, so the next attempt finds an answer kept under it; another activity, run or request
 * never does. A call with an identity of its own is named by that and its place in the plan instead, so another run
 * that repeats it finds the answer too.
 */
export function callIdOf(
  { workflowExecution, activityId }: Pick<Info, 'workflowExecution' | 'activityId'>,
  { identity, round, step, worker }: Pick<ModelCall, 'identity' | 'round' | 'step' | 'worker'>,
  request: unknown,
): string {
  const { workflowId = '', runId = '' } = workflowExecution ?? {};
  const place = identity === undefined ? [workflowId, runId, activityId] : [identity, round, step, worker];
  return createHash('sha256')
    .update(JSON.stringify([...place, request], sortedKeys))
    .digest('hex');
}

/** JSON with keys in one order, so that equal requests have equal bytes. */
function sortedKeys(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
