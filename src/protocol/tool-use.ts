import type { Text, TextRef } from './text';
import type { CallPrice } from './tool-cards';

// Tools in a run, as they travel through Temporal: texts by reference, so that a history stays flat in their length.

/** Name of the caller's functions among a run's tools, which no entry of `tools:` can have. */
export const CALLER_TOOLS = '@caller';

/** Whether an id is one under which a caller gives a result. */
export function isCallerId(id: unknown): id is string {
  return typeof id === 'string' && /^cdr_[A-Za-z0-9]{20}$/.test(id);
}

/** A tool that a model may be offered, as the run knows it; `ListedTools.list` has its description and schema. */
export interface ListedTool {
  /** Entry of `tools:` that it belongs to. */
  readonly card: string;
  /** Its own name there; the entry's, for an activity or workflow. */
  readonly tool: string;
  /** Name under which models are offered it. */
  readonly name: string;
  readonly repeatable: boolean;
  /** A person decides on each call. */
  readonly approve: boolean;
  /** Bytes of all that a request says about it. */
  readonly bytes: number;
  readonly price?: CallPrice;
}

/** Result of `conductor.listTools`: fixed for the run, whatever the servers say later. */
export interface ListedTools {
  /** JSON of the list of `OfferedTool`. */
  readonly list: TextRef;
  readonly tools: readonly ListedTool[];
  /** Why tools of the run are missing, a sentence each. */
  readonly problems: readonly string[];
}

/** Bytes of arguments and results that travel inline: a step's requests, and the run's result, hold many of them. */
export const INLINE_CALL_BYTES = 1024;

/** A call that a model asks for. */
export interface AskedCall {
  readonly id: string;
  readonly name: string;
  /** JSON of the arguments. */
  readonly input: Text;
  /** Why it cannot be made, in words for the model. */
  readonly problem?: string;
  /** A person decides whether it is made. */
  readonly asks?: true;
}

/** A model turn that asks for tools, kept in the store with a reference to the one before. */
export interface TakenTurn {
  readonly ref: TextRef;
  readonly calls: readonly AskedCall[];
}

/**
 * `unknown`: it was sent, and nobody knows what came of it. `denied`: a person rejected it. `expired`: nobody decided on
 * it in time. Neither was sent.
 */
export type ToolOutcome = 'ok' | 'error' | 'unknown' | 'denied' | 'expired';

export interface ToolAnswer {
  readonly outcome: ToolOutcome;
  /** What the model is told. */
  readonly output: Text;
  /** Set if surely nothing was sent, so that the call cost nothing. */
  readonly isUnsent?: true;
  /** What a caller says beside its result, to the model that reads it. */
  readonly said?: Text;
  /** Set by a caller that says with its result how its run goes on. */
  readonly next?: CallerWishes;
}

/** What a caller wants of the turns after a result. */
export interface CallerWishes {
  /** JSON of a list of `CallerTool`: its functions from now on; absent: those that the run knows. */
  readonly functions?: Text;
  /** The turn that reads the result must ask for a function. */
  readonly mustCall?: true;
}

export interface ToolResult extends ToolAnswer {
  readonly id: string;
  readonly name: string;
  /** JSON of the arguments that a person put in place of the model's. */
  readonly changedTo?: Text;
}

/** Beginning of the ids of priced calls of tools in the ledger, where those of model calls have no dot. */
export const TOOL_CALL_ID = 'tool.';

/** A call that another worker made for the same step, before it failed. */
export interface EarlierCall extends ToolAnswer {
  readonly name: string;
  readonly input: Text;
}

/** What was said since the prompt: the last turn, which leads to those before it, and the results of its calls. */
export interface Exchange {
  readonly turn: TextRef;
  readonly results: readonly ToolResult[];
}

/** The place of a model call in its step's exchange with tools. */
export interface ToolTurn {
  /** From 0. */
  readonly index: number;
  readonly list: TextRef;
  /** Names of the tools that the model is offered. */
  readonly names: readonly string[];
  /** Those of which a person decides on each call. */
  readonly asks: readonly string[];
  /** false: it must answer now. */
  readonly mayCall: boolean;
  /** The caller demands a call; it counts only if the turn may call. */
  readonly mustCall?: true;
  /** null for the first turn. */
  readonly after: Exchange | null;
  /** Most bytes that tools and exchange add to the prompt. */
  readonly bytes: number;
}

/** One call of a tool: input of `conductor.callTool`, and of the user's own activities and workflows. */
export interface ToolRequest {
  readonly rootId: string;
  readonly storeId?: string | undefined;
  readonly traceparent?: string | undefined;
  /** In place of Temporal's ids, for a call that is the same in every run. */
  readonly identity?: string | undefined;
  readonly round: number;
  readonly step: number;
  readonly worker: string;
  readonly turn: number;
  /** Number of the call in its turn. */
  readonly ordinal: number;
  readonly tool: ListedTool;
  /** JSON of the arguments. */
  readonly input: Text;
  /** The arguments themselves, for the user's own activities and workflows. */
  readonly arguments?: unknown;
  /** Id under which the caller gives the result; set for the caller's functions alone. */
  readonly callerId?: string;
  readonly resultBytes: number;
}

/** Call whose arguments a person put in place of the model's: input of `conductor.checkArguments`. */
export interface ChangedRequest extends ToolRequest {
  readonly list: ListedTools['list'];
}
