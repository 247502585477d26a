import { expectationIn } from '../../config/expectation';
import { isRecord } from '../../plan/validate';
import { type AnswerSchema, answerSchemaSchema } from '../../protocol/answer-schema';
import { badRequest } from '../refusal';

// The ways in which clients ask for an answer of a certain form. They are read alike on every surface.

/** Form of an answer: free text, JSON that fits a schema, or the input of a tool of the caller. */
interface AnswerForm {
  readonly answerSchema?: AnswerSchema;
  /** Name of that tool. */
  readonly tool?: string;
}

type Body = Readonly<Record<string, unknown>>;

/** Schema for a vendor's `json_object`, which names none: any JSON object. */
const ANY_OBJECT: AnswerSchema = { type: 'object' };

/** Returns the schema that a field's value asks for; undefined: none. */
type SchemaReader = (value: unknown, path: string) => AnswerSchema | undefined;

/** The fields that ask for a form, by their paths. */
const FORMS: Readonly<Record<string, SchemaReader>> = {
  response_format: schemaOfFormat,
  'text.format': schemaOfFormat,
  'output_config.format': schemaOfFormat,
  // Anthropic's earlier version, llama.cpp, vLLM and Ollama use these names.
  output_format: schemaOfFormat,
  json_schema: readSchema,
  guided_json: readSchema,
  'structured_outputs.json': readSchema,
  format: (value, path) => {
    if (value === '') return undefined;
    return value === 'json' ? ANY_OBJECT : readSchema(value, path);
  },
};

/** Whether a field of a request asks for a form, or holds one that does. */
export function isForm(name: string): boolean {
  return Object.keys(FORMS).some((path) => path === name || path.startsWith(`${name}.`));
}

/**
 * Returns the form that a request asks for. A forced tool counts alone: other forms are for text beside its call.
 * @param tool see `readForcedTool`
 */
export function readForm(body: Body, tool: ForcedTool | null): AnswerForm {
  if (tool !== null) return { tool: tool.name, answerSchema: inputSchemaOf(tool) };
  const asked = Object.entries(FORMS).flatMap(([path, read]) => {
    const value = valueAt(body, path);
    const answerSchema = value == null ? undefined : read(value, path);
    return answerSchema === undefined ? [] : [{ path, answerSchema }];
  });
  const [first, ...others] = asked;
  const other = others.find((each) => !isSameJson(each.answerSchema, first?.answerSchema));
  if (first === undefined || other === undefined) return { answerSchema: first?.answerSchema };
  const message = `${first.path} and ${other.path} ask for different answers: send one of them`;
  throw badRequest(message, other.path);
}

function isSameJson(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Returns the value of a field at a path such as `text.format`. */
export function valueAt(body: Body, path: string): unknown {
  let value: unknown = body;
  for (const name of path.split('.')) value = isRecord(value) ? value[name] : undefined;
  return value;
}

/** The types of format, and the schema of one that holds none; null: it must hold one. */
const TYPES: Readonly<Record<string, AnswerSchema | null>> = {
  json_schema: null,
  json_object: ANY_OBJECT,
  json: ANY_OBJECT,
};

/** The fields of a format that only name it, or say how strictly it holds: it always does. */
const NAMING: readonly string[] = ['name', 'description', 'strict', 'enforce_validation'];

/** The fields in which vendors put a format's schema. */
const HOLDING: readonly string[] = ['json_schema', 'schema', 'value', 'response_schema'];

/** Reads a format of a vendor. @throws Refusal for one that is not known, or holds more than a schema */
function schemaOfFormat(format: unknown, path: string): AnswerSchema | undefined {
  const { type, ...rest } = isRecord(format) ? format : {};
  if (typeof type !== 'string' || (type !== 'text' && !Object.hasOwn(TYPES, type))) {
    const shown = typeof type === 'string' ? JSON.stringify(type.slice(0, 40)) : 'missing';
    throw badRequest(`${path}.type is ${shown}: expected text, json_object or json_schema`, path);
  }
  refuseStrays(rest, path, type === 'text' ? NAMING : [...NAMING, ...HOLDING]);
  if (type === 'text') return undefined;
  const held = withoutName(HOLDING.map((name) => rest[name]).find((value) => value != null));
  return held == null && TYPES[type] ? TYPES[type] : readSchema(held, path);
}

/** @throws Refusal for a field that may change what a format means */
function refuseStrays(fields: Body, path: string, known: readonly string[]): void {
  const stray = Object.keys(fields).find((name) => fields[name] != null && !known.includes(name));
  if (stray === undefined) return;
  const place = `${path}.${stray.slice(0, 64)}`;
  const remedy = `send a schema as ${path}.schema, of type json_schema, or leave it out`;
  throw badRequest(`${place} is not known in a format of this type: ${remedy}`, place);
}

/** Returns the schema that a format holds, which may be wrapped with a name. */
function withoutName(held: unknown): unknown {
  const isWrapped = isRecord(held) && ('schema' in held || ('name' in held && !('type' in held)));
  return isWrapped ? held.schema : held;
}

/** @throws Refusal if the schema is invalid or too large */
export function readSchema(schema: unknown, path: string): AnswerSchema {
  const read = answerSchemaSchema.safeParse(schema);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw badRequest(`${path}: ${issue === undefined ? 'expected a JSON Schema' : expectationIn(issue)}`, path);
}

/** A tool of the caller, and the form of its input. */
export interface ForcedTool {
  readonly name: string;
  /** Schema of its input. */
  readonly schema: AnswerSchema;
}

function inputSchemaOf({ name, schema }: ForcedTool): AnswerSchema {
  if (schema.type === 'object') return readSchema(schema, 'tools');
  const shown = JSON.stringify(schema.type).slice(0, 40);
  throw badRequest(
    `tools: the input of ${name.slice(0, 64)} is of type ${shown}: it must be an object`,
    'tools',
  );
}

/**
 * Returns the tool whose input a request demands as its answer, which is how clients ask for JSON where they know no
 * better way: the one that it names, or its only one if some tool must be used. null: it demands none, or one that a
 * vendor defines or that takes free text.
 */
export function readForcedTool({ tools, tool_choice: choice }: Body): ForcedTool | null {
  if (!Array.isArray(tools)) return null;
  const known = tools.map(toolOf);
  const name = nameIn(choice);
  const meant = name === null ? known : known.filter((tool) => tool?.name === name);
  const isForced = name !== null || isAny(choice);
  return isForced && meant.length === 1 ? (meant[0] ?? null) : null;
}

/** Whether a choice of tools, in any vendor's format, is this word. */
export function isChoice(choice: unknown, word: string): boolean {
  return choice === word || (isRecord(choice) && choice.type === word);
}

/** Whether a choice demands a call of a tool, whichever or one by its name. */
export function isDemand(choice: unknown): boolean {
  return isAny(choice) || nameIn(choice) !== null;
}

/** Whether a choice demands a call of whichever tool. */
export function isAny(choice: unknown): boolean {
  return ['required', 'any'].some((word) => isChoice(choice, word));
}

/** Returns the tool's name in a choice such as OpenAI's for chat and for responses, or Anthropic's. */
function nameIn(choice: unknown): string | null {
  if (!isRecord(choice) || (choice.type !== 'function' && choice.type !== 'tool')) return null;
  const name = isRecord(choice.function) ? choice.function.name : choice.name;
  return typeof name === 'string' ? name : null;
}

function toolOf(tool: unknown): ForcedTool | null {
  if (!isRecord(tool)) return null;
  const { type = null } = tool;
  const { name, parameters, input_schema } = isRecord(tool.function) ? tool.function : tool;
  const schema = input_schema ?? parameters ?? (type === 'function' ? {} : null);
  if (![null, 'function', 'custom'].includes(type as string | null)) return null;
  return typeof name === 'string' && isRecord(schema) ? { name, schema: { ...ANY_OBJECT, ...schema } } : null;
}
