import { z } from 'zod';
import { isRecord } from '../../plan/validate';
import { type CallerTool, type TextFormat, textFormatSchema } from '../../protocol/caller-tools';
import { freeTextSchema } from '../../protocol/parts';
import { badRequest } from '../refusal';
import type { IgnoredFields } from './request-fields';
import { type ForcedTool, isChoice, isDemand } from './request-form';

// The functions that clients send, which models may ask for. They are read alike on every surface.

/** How a function is called in its caller's format, if not by its name alone with arguments in JSON. */
export const toolFormSchema = z.object({
  name: z.string(),
  /** It takes a text: models are given it as a function with one argument, `input`. */
  isFreeText: z.literal(true).optional(),
  /** What stands before `__` in its name. */
  namespace: z.string().optional(),
});
type ToolForm = z.infer<typeof toolFormSchema>;

/** Functions of a caller, by the names under which models ask for them. */
export interface CallerTools {
  readonly tools: readonly CallerTool[];
  /** Those that are called in a form of their own. */
  readonly forms: readonly ToolForm[];
  /** At most one call is told at a time. */
  readonly isSerial: boolean;
  /** The next answer must have a call. */
  readonly isDemanded: boolean;
}

type Body = Readonly<Record<string, unknown>>;
type Declared = CallerTool & Omit<ToolForm, 'name'>;

/**
 * Reads the functions of a request.
 * @param forced the one whose input is the answer, so that none is asked for
 * @throws Refusal for one that no vendor takes
 */
export function readTools(body: Body, forced: ForcedTool | null, allowance: IgnoredFields): CallerTools {
  const declared = forced === null ? declaredIn(body, allowance) : [];
  const tools = declared.map(({ name, description, parameters, format }) => ({
    name,
    ...(description !== undefined && { description }),
    parameters,
    ...(format !== undefined && { format }),
  }));
  const forms = declared.filter(
    ({ isFreeText, namespace }) => isFreeText === true || namespace !== undefined,
  );
  return {
    tools,
    forms: forms.map(({ name, isFreeText, namespace }) => ({ name, isFreeText, namespace })),
    isDemanded: tools.length > 0 && isDemand(body.tool_choice),
    isSerial: body.parallel_tool_calls === false || isSerialChoice(body.tool_choice),
  };
}

function declaredIn(body: Body, allowance: IgnoredFields): Declared[] {
  const { tools, tool_choice: choice } = body;
  if (!Array.isArray(tools) || isChoice(choice, 'none')) return [];
  if (allowance.has('tools')) {
    if (tools.length > 0) allowance.leaveOut('tools');
    return [];
  }
  return tools.flatMap((tool, index) => declaredBy(tool, `tools[${index}]`, allowance));
}

/** Anthropic's way to ask for one call at a time. */
function isSerialChoice(choice: unknown): boolean {
  return isRecord(choice) && choice.disable_parallel_tool_use === true;
}

/** Returns what a tool declares: a namespace has several functions; one that models here cannot call, none. */
function declaredBy(tool: unknown, place: string, allowance: IgnoredFields): Declared[] {
  if (!isRecord(tool)) throw badRequest(`${place}: expected an object`, 'tools');
  const { type = null } = tool;
  if (type === 'namespace') return namespaced(tool, place, allowance);
  const obstacle = obstacleTo(tool);
  if (obstacle !== null) {
    const shown = type === null ? '' : ` (${JSON.stringify(type).slice(0, 40)})`;
    allowance.leaveOut(`${place}${shown}`, `: ${obstacle}`);
    return [];
  }
  const inner = [tool.function, tool.custom].find(isRecord) ?? tool;
  const schema = inner.input_schema ?? inner.parameters;
  // A custom tool of Anthropic's has a schema.
  if (type === 'custom' && schema === undefined) return [freeText(inner, place)];
  return [{ ...namedIn(inner, place), parameters: parametersOf(schema, place) }];
}

function obstacleTo({ type = null, defer_loading: isDeferred }: Body): string | null {
  if (isDeferred === true) return 'it is loaded on demand, which models here cannot do';
  return [null, 'function', 'custom'].includes(type as string | null)
    ? null
    : 'only its vendor can carry it out';
}

function namespaced(tool: Body, place: string, allowance: IgnoredFields): Declared[] {
  const { name: namespace } = namedIn(tool, place);
  const inner: readonly unknown[] = Array.isArray(tool.tools) ? tool.tools : [];
  const declared = inner.flatMap((each, index) => declaredBy(each, `${place}.tools[${index}]`, allowance));
  return declared.map((each) => ({ ...each, name: `${namespace}__${each.name}`, namespace }));
}

/** A function that takes a text, perhaps by a grammar, which models are told. */
function freeText(tool: Body, place: string): Declared {
  const { name, description = '' } = namedIn(tool, place);
  const format = formatOf(tool);
  const rule =
    format.type === 'text' ? '' : ` It must fit this grammar (${format.syntax}):\n${format.definition}`;
  const parameters = freeTextSchema(`The whole input, as plain text.${rule}`);
  return { name, description, parameters, format, isFreeText: true };
}

/** Responses have a grammar's fields in the format itself, chats in its `grammar`. */
function formatOf({ format }: Body): TextFormat {
  const stated = isRecord(format) && isRecord(format.grammar) ? { ...format, ...format.grammar } : format;
  const { type, syntax, definition } = isRecord(stated) ? stated : {};
  return textFormatSchema.safeParse({ type, syntax, definition }).data ?? { type: 'text' };
}

/** Names that vendors take; longer ones than some of them do are shortened where such a vendor is asked. */
const NAME = /^[A-Za-z0-9_-]{1,128}$/;

function namedIn({ name, description }: Body, place: string): Pick<CallerTool, 'name' | 'description'> {
  if (typeof name === 'string' && NAME.test(name))
    return { name, ...(typeof description === 'string' && { description }) };
  const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, 64)) : 'missing';
  const rule = 'expected 1 to 128 letters, digits, _ and -';
  throw badRequest(`${place}.name is ${shown}: ${rule}`, `${place}.name`);
}

function parametersOf(schema: unknown, place: string): CallerTool['parameters'] {
  if (schema == null) return { type: 'object', properties: {} };
  if (isRecord(schema) && (schema.type ?? 'object') === 'object') return { ...schema, type: 'object' };
  throw badRequest(`${place}: the schema of its arguments must be that of an object`, 'tools');
}
