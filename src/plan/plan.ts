/** The vocabulary of the plan language. It imports nothing, so that every other file may import it. */

/** One step of a plan: who does what, and which earlier outputs they may see. */
export interface Step {
  readonly worker: string;
  readonly subtask: string;
  /** Indices of earlier steps, ascending and without repeats. */
  readonly sees: readonly number[];
}

/** Decision of the Conductor. No steps at all means: the previous answer stands. */
export interface Plan {
  readonly steps: readonly Step[];
}

/** The Conductor as a worker of its own plans. Reserved: no worker of a pool may have this id. */
export const CONDUCTOR_ID = 'conductor';

/** The longest subtask a plan may hold, in bytes as JSON: several pages, yet a history stays small. */
export const MAX_SUBTASK_BYTES = 8 * 1024;

export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Bytes of a value as JSON in a payload of Temporal's, without the quotes around a text: a control character is one byte
 * of UTF-8, and six as JSON.
 */
export function jsonBytes(value: unknown): number {
  return utf8Bytes(JSON.stringify(value)) - (typeof value === 'string' ? 2 : 0);
}

/** Facts that a plan is judged by. */
export interface PlanContext {
  /** Ids of the workers in the order of the prompt: the index is the ordinal that the Conductor writes. */
  readonly workers: readonly string[];
  readonly maxSteps: number;
  /** 0 for the first plan of a run. Only a later plan may be empty, which accepts the answer so far. */
  readonly round: number;
  /** How a reply may say what a step sees. A person's plan is data and not bound by it. @default 'any' */
  readonly access?: Access;
  /** false: a reply's subtasks are read as `GENERIC_SUBTASK`, whatever stands there. @default true */
  readonly subtasks?: boolean | undefined;
}

/** Every worker's subtask in the paper's ablation of subtasks (its table 9). */
export const GENERIC_SUBTASK = 'Solve the user question.';

/** How the Conductor says what a step sees: all earlier steps or none, as in the paper, or any of them by number. */
export const ACCESS_MODES = ['binary', 'any'] as const;
export type Access = (typeof ACCESS_MODES)[number];

/**
 * What the Conductor is told of each worker: its number alone (as the paper trains, so that names carry no prejudice), its id, its
 * notes, or its notes and its price.
 */
export const DESCRIBE_MODES = ['ordinals', 'names', 'notes', 'notes+price'] as const;
export type Describe = (typeof DESCRIBE_MODES)[number];

/** The wave of each step, for people: a run does not wait for whole waves. */
export function planWaves({ steps }: Plan): number[] {
  const waves: number[] = [];
  for (const { sees } of steps) waves.push(Math.max(-1, ...sees.map((seen) => waves[seen] ?? -1)) + 1);
  return waves;
}

/**
 * The steps whose prompts should be kept in, or read from, their provider's cache: each that begins when an earlier step
 * of the same worker is over, and the first of those. Steps that begin together find nothing of each other's.
 */
export function stepsSharingPrompts({ steps }: Plan): ReadonlySet<number> {
  const sharing = new Set<number>();
  for (const [index, all] of stepsBefore({ steps }).entries()) {
    const first = all.find((each) => steps[each]?.worker === steps[index]?.worker);
    if (first !== undefined) sharing.add(first).add(index);
  }
  return sharing;
}

/** All that must be over before a step begins, by step, ascending. */
function stepsBefore({ steps }: Plan): number[][] {
  const before: number[][] = [];
  for (const { sees } of steps) {
    const all = sees.flatMap((earlier) => [earlier, ...(before[earlier] ?? [])]);
    before.push([...new Set(all)].sort((one, other) => one - other));
  }
  return before;
}

/** One message of a conversation with a model, in no vendor's dialect. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
}

/** How a worker is shown its part: in one tagged message, as turns of a chat, or as turns without any tags. */
export const LAYOUTS = ['tagged', 'chat', 'plain'] as const;
export type Layout = (typeof LAYOUTS)[number];

/** Examples that the Conductor is shown: everyday subjects, the paper's tasks, some of both, or none. */
export const EXAMPLE_SET_NAMES = ['out-of-domain', 'in-domain', 'mixed', 'none'] as const;
export type ExampleSet = (typeof EXAMPLE_SET_NAMES)[number];

/** Examples of one prompt, and their bytes as JSON: they travel with each group of a night. */
export const MAX_EXAMPLES = 16;
export const MAX_EXAMPLES_BYTES = 32 * 1024;

/** A question, and the plan that the Conductor should have written for it. */
export interface Example {
  readonly question: string;
  readonly reasoning: string;
  /** Its workers are ordinals. */
  readonly plan: Plan;
}

/** A JSON schema (2020-12 subset: objects, arrays, strings, integers) with the name vendors ask for. */
export interface OutputSchema {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
}
