import type { Allowance } from '../protocol/activities';
import type { CallPurpose } from '../protocol/call';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import type { Message, OutputSchema } from '../plan/plan';

/** One call to make: to whom, what for, and with which words. */
export interface ModelCall {
  /** Workflow id of the solve that a person asked for. */
  readonly rootId: string;
  /** Names the call, with its round, step and worker, in place of Temporal's ids. */
  readonly identity?: string;
  readonly purpose: CallPurpose;
  readonly round: number;
  readonly step: number | null;
  /** The worker's id, or `conductor`. */
  readonly worker: string;
  readonly card: ModelCard | ConductorCard;
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
  /** How long the request may take, in milliseconds: what its card allows, or less. */
  readonly timeoutMs: number;
  /** How many requests it may come to. */
  readonly allowance: Allowance;
  readonly outputSchema?: OutputSchema;
  readonly seed?: number;
  /** Another worker is asked should this one fail, so that it need not be waited for. */
  readonly hasFallback?: true;
}
