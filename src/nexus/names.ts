import type { TypedSearchAttributes } from '@temporalio/common';
import type { SolveInput } from '../protocol/input';
import { modelOf } from '../protocol/rights';
import { attributesOf, type Criterion } from '../protocol/search-attributes';
import type { NexusAnswer } from './contract';

// Names and types between an operation, its workflow and its activity. Names are written into histories.

export const NEXUS_SOLVE_WORKFLOW = 'conductorNexusSolve';
export const TELL_CALLER = 'conductor.tellCaller';

/** A solve that a workflow of another namespace asked for. */
export interface NexusCall {
  /** Workflow id of the solve. */
  readonly id: string;
  readonly input: SolveInput;
  /** Namespace of the caller. */
  readonly caller: string;
  /** What the solve can be found by; absent: nothing. */
  readonly criteria?: readonly Criterion[];
}

/**
 * Returns the search attributes of a call and of its solve: the key is the caller's namespace. A namespace that lacks them
 * refuses the call, before the call could trip over them.
 */
export function attributesOfCall({ input, caller, criteria = [] }: NexusCall): {
  readonly typedSearchAttributes?: TypedSearchAttributes;
} {
  if (criteria.length === 0) return {};
  const found = { tenant: input.tenant, key: caller, model: modelOf(input) };
  return { typedSearchAttributes: attributesOf(found, criteria) };
}

/** Returns the id of the workflow that runs a solve for its caller. */
export function nexusCallId(id: string): string {
  return `${id}-call`;
}

/** How a solve ended: with an answer, or why there is none. */
export type NexusEnd = { readonly answer: NexusAnswer } | { readonly failure: NexusFailure };

/** Why an operation has no answer. */
export interface NexusFailure {
  readonly type: string;
  readonly message: string;
}

export interface NexusActivities {
  [TELL_CALLER]: (call: Pick<NexusCall, 'id' | 'caller'>) => Promise<NexusEnd>;
}
