/** Types and constants of the plan language. Imports nothing, so that every other file may import it. */

/** One step of a plan: its worker, its subtask, and the earlier steps whose outputs it may see. */
export interface Step {
  readonly worker: string;
  readonly subtask: string;
  /** Indices of earlier steps, ascending and without duplicates. */
  readonly sees: readonly number[];
}

/** Decision of the Conductor. A plan without steps accepts the previous answer. */
export interface Plan {
  readonly steps: readonly Step[];
}

/** Id of the Conductor as a worker of its own plans. Reserved: no worker of a pool may have it. */
export const CONDUCTOR_ID = 'conductor';

/** Longest subtask in bytes of JSON: room for several pages, small enough for workflow histories. */
export const MAX_SUBTASK_BYTES = 8 * 1024;

export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Returns the size in bytes of a value as JSON in a Temporal payload, without the quotes around a text. A control
 * character is one byte of UTF-8 but six bytes of JSON.
 */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0);
}

/** Facts that plans are validated against. */
export interface PlanContext {
  /** Ids of the workers in prompt order: the index is the ordinal that the Conductor writes. */
  readonly workers: readonly string[];
  readonly maxSteps: number;
  /** 0 for the first plan of a run. Only a later plan may be empty, which accepts the answer so far. */
  readonly round: number;
  /** How a reply may say what a step sees. Does not apply to a person's plan, which is data. @default 'any' */
  readonly access?: Access;
  /** false: a reply's subtasks are read as `GENERIC_SUBTASK`, whatever they say. @default true */
  readonly subtasks?: boolean | undefined;
}

/** Every worker's subtask in the paper's ablation of subtasks (its table 9). */
export const GENERIC_SUBTASK = 'Solve the user question.';

/** How the Conductor says what a step sees: all earlier steps or none, as in the paper, or any steps by number. */
export const ACCESS_MODES = ['binary', 'any'] as const;
export type Access = (typeof ACCESS_MODES)[number];

/**
 * Information about each worker in the Conductor's prompt: only its number (as in the paper's training, so that names cause no
 * bias), its id, its notes, or its notes and its price.
 */
export const DESCRIBE_MODES = ['ordinals', 'names', 'notes', 'notes+price'] as const;
export type Describe = (typeof DESCRIBE_MODES)[number];

/** Returns the wave of each step, for display: a run does not wait for whole waves. */
export function planWaves({ steps }: Plan): number[] {
  const waves: number[] = [];
  for (const { sees } of steps) waves.push(Math.max(-1, ...sees.map((seen) => waves[seen] ?? -1)) + 1);
  return waves;
}

/**
 * Returns the steps whose prompts should be written to, or read from, the provider's prompt cache: each step that must
 * wait for an earlier one of the same worker, and the first such earlier step. Steps that start together cannot share.
 */
export function stepsSharingPrompts({ steps }: Plan): ReadonlySet<number> {
  const sharing = new Set<number>();
  for (const [index, all] of stepsBefore({ steps }).entries()) {
    const first = all.find((each) => steps[each]?.worker === steps[index]?.worker);
    if (first !== undefined) sharing.add(first).add(index);
  }
  return sharing;
}

/** Returns for each step the steps that must end before it starts, ascending. */
function stepsBefore({ steps }: Plan): number[][] {
  const before: number[][] = [];
  for (const { sees } of steps) {
    const all = sees.flatMap((earlier) => [earlier, ...(before[earlier] ?? [])]);
    before.push([...new Set(all)].sort((one, other) => one - other));
  }
  return before;
}

/** One message of a conversation with a model, independent of vendors' formats. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  /** Functions that were called in a conversation after this was said, for a model that can read them. */
  readonly calls?: readonly ConversationCall[] | undefined;
}

/** A function that was called in a conversation. */
export interface ConversationCall {
  readonly name: string;
  /** JSON of its arguments, or its text. */
  readonly arguments: string;
  /** Absent: it has no result. */
  readonly output?: string | undefined;
  readonly isError?: true | undefined;
}

/** Form of a worker's prompt: one tagged message, the turns of a chat, or turns without any tags. */
export const LAYOUTS = ['tagged', 'chat', 'plain'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** Built-in examples for the Conductor: everyday subjects, the paper's tasks, some of both, or none. */
export const EXAMPLE_SET_NAMES = ['out-of-domain', 'in-domain', 'mixed', 'none'] as const;
export type ExampleSet = (typeof EXAMPLE_SET_NAMES)[number];

/** Most examples in one prompt, and most bytes of them as JSON: they are sent with each group of a night. */
export const MAX_EXAMPLES = 16;
export const MAX_EXAMPLES_BYTES = 32 * 1024;

/** Question with the plan that the Conductor should have written for it. */
export interface PlanExample {
  readonly question: string;
  readonly reasoning: string;
  /** Names its workers by ordinals. */
  readonly plan: Plan;
}

/** JSON schema (2020-12 subset: objects, arrays, strings, integers) with the name that vendors require. */
export interface OutputSchema {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}
