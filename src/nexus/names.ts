import type { SolveInput } from '../protocol/input';
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
}

/** Returns the id of the workflow that runs a solve for its caller. */
export function nexusCallId(id: string): string {
  return `${id}-call`;
}

/** How a solve ended: with an answer, or why there is none. */
export type NexusEnd =
  | { readonly answer: NexusAnswer }
  | { readonly failure: { readonly type: string; readonly message: string } };

export interface NexusActivities {
  [TELL_CALLER]: (call: Pick<NexusCall, 'id' | 'caller'>) => Promise<NexusEnd>;
}
