import { z } from '@hono/zod-openapi';
import { limitSchema, limitSchemas, MAX_TURNS, MOST_POOL } from '../../protocol/input';
import { A_COST, MAX_COST_USD } from '../../protocol/messages';
import { whole } from '../../protocol/rules';
import { isRecord } from '../../plan/validate';
import { planSchema } from '../../protocol/solve';
import { badRequest } from '../refusal';
import { isAny, isChoice, isForm, readForcedTool, valueAt } from './request-form';

/** Most turns of a conversation, and parts of a turn. */
export const MOST_ITEMS = MAX_TURNS;

const ids = z.array(z.string()).max(MOST_POOL);

/** The gateway's own fields, which a request carries beside the vendors' under the one key `conductor`. */
export const extensionSchema = z
  .strictObject({
    max_cost_usd: limitSchema(z.number, { expected: A_COST }, 0, MAX_COST_USD).optional(),
    max_steps: limitSchemas.steps.optional(),
    max_depth: limitSchema(z.int, whole(0, 10), 0, 10).optional(),
    pool: z.strictObject({ allow: ids.optional(), deny: ids.optional() }).optional(),
    /** `approve`: the plan waits for a person's approval. A plan object: it runs as it is. */
    plan: z.union([z.enum(['auto', 'approve']), planSchema]).optional(),
    /** How much the answer says about how it was found. */
    trace: z.enum(['none', 'summary', 'full']).optional(),
    /** Which steps may ask for the caller's functions: every one, or the one that writes the answer. */
    tools: z.enum(['every', 'last']).optional(),
    /** Fate of the solve if the client disconnects before its end. */
    on_disconnect: z.enum(['continue', 'cancel']).optional(),
  })
  .openapi('Conductor');
export type Extension = z.infer<typeof extensionSchema>;

export const REQUEST_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** The fields that ask for an effort, by their paths, on every surface. */
const EFFORT_PATHS = ['reasoning_effort', 'reasoning.effort', 'output_config.effort'] as const;

export function readEffort(body: Fields): string | undefined {
  return EFFORT_PATHS.map((path) => valueAt(body, path)).find((value) => typeof value === 'string');
}

/** Returns the most tokens of an answer. Local servers read every number below one as no limit. */
export function limitOf(tokens: number | null | undefined): number | undefined {
  return tokens == null || tokens < 1 ? undefined : tokens;
}

/** Header in which a client lists, comma-separated, what it sends but can do without: fields, and types of parts. */
export const IGNORE_HEADER = 'x-conductor-ignore';

const MOST_WARNINGS = 50;

/** What a client can do without, and what of its request is left out. */
export class IgnoredFields {
  private readonly names: ReadonlySet<string>;
  private readonly left: string[] = [];

  /** @param header value of the header `IGNORE_HEADER` */
  constructor(header?: string) {
    this.names = new Set(header?.split(',').map((name) => name.trim()));
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  leaveOut(what: string, why = ''): void {
    this.left.push(`${what} is ignored${why}`);
  }

  /** A sentence for each thing left out. */
  get warnings(): string[] {
    return this.left.slice(0, MOST_WARNINGS);
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Field that must not be dropped, since that would change the meaning. */
interface RefusedField {
  /** Whether a value asks for nothing, or for what is done anyway. */
  readonly asksNothing?: (value: unknown, body: Fields) => boolean;
  readonly instead: string;
}

const FUNCTIONS: RefusedField = {
  asksNothing: (value, body) => isEmpty(value) || isChoice(body.function_call, 'none'),
  instead: 'send functions as tools',
};

const isFree = (choice: unknown): boolean => isChoice(choice, 'none') || isChoice(choice, 'auto');
const isHeeded = (choice: unknown): boolean => isFree(choice) || isAny(choice);

const TOOL_CHOICE: RefusedField = {
  asksNothing: (value, body) => isHeeded(value) || isEmpty(body.tools ?? []) || readForcedTool(body) !== null,
  instead: 'send auto or required, or force one function, whose input is then the answer',
};

/** The fields of all surfaces about the functions of the caller. */
const ABOUT_TOOLS: readonly string[] = ['tools', 'parallel_tool_calls'];

const LOG_PROBABILITIES = "a team's answer has no log-probabilities; leave it out";
const GRAMMAR = 'an answer is free text or fits a JSON Schema; send one as response_format, or leave it out';

/** The refused fields of all surfaces, by their paths. Every other field that is not taken is ignored, and listed. */
const REFUSED: Readonly<Record<string, RefusedField>> = {
  functions: FUNCTIONS,
  function_call: { ...FUNCTIONS, asksNothing: isFree },
  mcp_servers: { asksNothing: isEmpty, instead: 'have the operator add the server to the configuration' },
  tool_choice: TOOL_CHOICE,
  n: {
    asksNothing: (value) => value === 1,
    instead: 'a request gives one answer; send the request again for another',
  },
  logprobs: { asksNothing: (value) => value === false, instead: LOG_PROBABILITIES },
  top_logprobs: { asksNothing: (value) => value === 0, instead: LOG_PROBABILITIES },
  audio: { instead: 'answers are text; leave it out' },
  modalities: {
    asksNothing: (value) => JSON.stringify(value) === '["text"]',
    instead: 'answers are text; leave it out',
  },
  web_search_options: { instead: 'the operator gives workers their tools, searches too; leave it out' },
  conversation: {
    instead: 'send the id of the response to continue as previous_response_id, or all turns as input',
  },
  prompt: { instead: 'prompt templates are not stored here; send the text as input' },
  // llama.cpp, vLLM and SGLang constrain an answer by these.
  grammar: { asksNothing: isEmpty, instead: GRAMMAR },
  regex: { instead: GRAMMAR },
  ebnf: { instead: GRAMMAR },
  guided_regex: { instead: GRAMMAR },
  guided_choice: { instead: GRAMMAR },
  guided_grammar: { instead: GRAMMAR },
  'structured_outputs.regex': { instead: GRAMMAR },
  'structured_outputs.choice': { instead: GRAMMAR },
  'structured_outputs.grammar': { instead: GRAMMAR },
  'structured_outputs.structural_tag': { instead: GRAMMAR },
};

/** The fields that are taken from within others. One about a summary of the reasoning is, since one is always told. */
const WITHIN: Readonly<Record<string, readonly string[]>> = {
  text: ['format'],
  reasoning: ['effort', 'summary', 'generate_summary'],
  output_config: ['format', 'effort'],
  structured_outputs: ['json'],
};

function isEmpty(value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0);
}

/**
 * Notes the fields that are ignored.
 * @param taken has the supported fields
 * @throws Refusal for a field that must not be ignored
 */
export function checkFields(body: Fields, taken: object, allowance: IgnoredFields): void {
  const check = (fields: Fields, isTaken: (name: string) => boolean, before: string): void => {
    for (const [name, value] of Object.entries(fields)) {
      // An unknown name may have any length.
      const path = before + name.slice(0, 64);
      const rule = Object.hasOwn(REFUSED, path) ? REFUSED[path] : undefined;
      const needsNothing = rule === undefined ? isTaken(name) : rule.asksNothing?.(value, body) === true;
      if (value == null || needsNothing) continue;
      if (rule !== undefined && !allowance.has(path)) throw refuse(path, rule.instead);
      allowance.leaveOut(path);
    }
  };
  const isRead = (name: string): boolean =>
    isForm(name) || ABOUT_TOOLS.includes(name) || EFFORT_PATHS.some((path) => headOf(path) === name);
  check(body, (name) => Object.hasOwn(taken, name) || isRead(name), '');
  for (const [name, inside] of Object.entries(WITHIN)) {
    const value = body[name];
    if (isRecord(value)) check(value, (each) => inside.includes(each), `${name}.`);
  }
}

const headOf = (path: string): string => path.split('.')[0] ?? '';

function refuse(path: string, instead: string): Error {
  const message = `${path} is not supported: ${instead}; if a client must send it, name it in the header ${IGNORE_HEADER}`;
  return badRequest(message, path, 'unsupported_parameter');
}
