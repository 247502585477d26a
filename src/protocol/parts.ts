import type { TextFormat } from './caller-tools';

/**
 * What a model and its tools said to each other after the prompt, independent of vendors' formats: turns that are lists
 * of parts. The vendors' own blocks are kept as they came, for the card that made them alone.
 */

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
}

/** A model asks for a tool. */
export interface CallPart {
  readonly kind: 'call';
  /** Unique in its turn. */
  readonly id: string;
  /** Name under which the model was offered the tool. */
  readonly name: string;
  /** JSON of the arguments, as the model wrote it: it may be none. */
  readonly input: string;
}

export interface ResultPart {
  readonly kind: 'result';
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isError?: true;
}

/** A vendor's block that nobody else can read, such as signed thoughts: its model wants it back unchanged. */
export interface OpaquePart {
  readonly kind: 'opaque';
  /** See `makerOf`. Another model is never sent the block. */
  readonly madeBy: string;
  readonly block: Readonly<Record<string, unknown>>;
}

export type Part = TextPart | CallPart | ResultPart | OpaquePart;

export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly Part[];
}

/** A tool as a model is offered it. */
export interface OfferedTool {
  /** At most 64 letters, digits, `_` and `-`, which suits every vendor. */
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Set if it takes a text: its only argument is `input`. */
  readonly format?: TextFormat;
}

/** The tools of a request, and what was said since its prompt. */
export interface ToolUse {
  readonly tools: readonly OfferedTool[];
  /** false: the model must answer now. It is still told of the tools that it has called. */
  readonly mayCall: boolean;
  /** The model must call one of them. */
  readonly mustCall?: true;
  readonly turns: readonly Turn[];
}

/** Prefix of ids that we make, which their model never sent. */
const MADE = 'made_';

/** Returns an id that is the same at each attempt. */
export function madeId(...place: readonly (string | number)[]): string {
  return `${MADE}${place.join('_')}`;
}

export function isMadeId(id: string): boolean {
  return id.startsWith(MADE);
}

/** Returns the arguments of a call, or null if the model wrote none that can be read. */
export function argumentsIn(input: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(input);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

/** Schema of the arguments of a tool that takes a text. */
export function freeTextSchema(description: string): Readonly<Record<string, unknown>> {
  const properties = { input: { type: 'string', description } };
  return { type: 'object', properties, required: ['input'], additionalProperties: false };
}

/** Returns the arguments that hold a text. Those of a text that was cut off are cut off, too. */
export function freeTextArguments(text: string, isCut: boolean): string {
  const whole = JSON.stringify({ input: text });
  return isCut ? whole.slice(0, -1) : whole;
}

/** Returns the text that a model gives to a tool that takes one. */
export function freeTextIn(input: string): string {
  const given = argumentsIn(input);
  return typeof given?.input === 'string' ? given.input : input;
}
