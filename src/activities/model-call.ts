import type { Message, OutputSchema } from '../plan/plan';
import type { Allowance, Belonging } from '../protocol/activities';
import type { CallPurpose } from '../protocol/call';
import type { ConductorCard, ModelCard } from '../protocol/cards';
import type { ResolvedRun } from '../protocol/run';
import type { Text } from '../protocol/text';
import type { ServedPolicy } from '../training/policy/client';

/** One call to make: to whom, what for, and with which words. */
export interface ModelCall extends Belonging {
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
  /** Where the checkpoint is served that the card names; only of such a card. */
  readonly policy?: ServedPolicy;
  /** Another worker is asked should this one fail, so that it need not be waited for. */
  readonly hasFallback?: true;
  /** Told to the workflow even when the call fails: see `CallFailureDetails`. */
  readonly resolved?: { readonly run: ResolvedRun; readonly question: Text };
}

/** Where a workflow of an earlier version says nothing: such a run has no limit on spending. */
export const UNTOLD_ALLOWANCE: Allowance = { requests: 5, billable: 5 };
