import * as nexus from 'nexus-rpc';
import type { ConversationTurn, SolveInput } from '../protocol/input';
import type { ToldSolve } from '../trace/told-solve';

/** Question of a workflow in another namespace; the fields beside it are those of `SolveRequest`. */
export interface NexusQuestion extends Pick<
  SolveInput,
  'answerSchema' | 'conductor' | 'limits' | 'maxAnswerTokens' | 'pool' | 'priority' | 'seed' | 'tenant'
> {
  readonly question?: string;
  /** Conversation in place of the question, which is its last turn. */
  readonly messages?: readonly ConversationTurn[];
  /** Names the solve: equal questions of one namespace under one key are one solve. @default the operation's request id */
  readonly key?: string;
}

/**
 * What an operation returns: the answer whole, and what it cost.
 * A solve without an answer fails the operation by an `ApplicationFailure` of its failure's type.
 */
export type NexusAnswer = ToldSolve & { readonly answer: string };

/** Names a solve that a workflow of the same namespace asked for: by one of these. */
export interface NexusSolveName {
  /** Id that `solve` returned. */
  readonly id?: string;
  /** Key under which `solve` was asked. */
  readonly key?: string;
}

/** Service that other namespaces call; it may be imported by workflows. */
export const conductorNexusService = nexus.service('conductor', {
  solve: nexus.operation<NexusQuestion, NexusAnswer>(),
  /** Tells how a solve stands, at once; its answer is null until there is one. */
  getSolve: nexus.operation<NexusSolveName, ToldSolve>(),
});
