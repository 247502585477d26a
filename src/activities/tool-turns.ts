import { argumentsIn, type OfferedTool, type Part, type ToolUse, type Turn } from '../protocol/parts';
import type { Text, TextRef } from '../protocol/text';
import {
  type AskedCall,
  type Exchange,
  INLINE_CALL_BYTES,
  type ListedTools,
  type TakenTurn,
  type ToolResult,
  type ToolTurn,
} from '../protocol/tool-use';
import type { Store } from '../store/store';
import { type NewTexts, readText } from '../store/texts';

/** A model turn as it is kept: what came before it, by reference, and what it added. */
interface KeptTurn {
  readonly parent: TextRef | null;
  /** Results of the parent's calls. */
  readonly results: readonly ToolResult[];
  readonly parts: readonly Part[];
}

/** Adds a turn that asks for tools to what is kept with it, and says of each call whether it can be made. */
export function keepTurn(
  texts: NewTexts,
  { after, names, asks }: ToolTurn,
  parts: readonly Part[],
): TakenTurn {
  const kept: KeptTurn = { parent: after?.turn ?? null, results: after?.results ?? [], parts };
  // By reference, however short it is: it is of one length in every history.
  const ref = referenceIn(texts.add(JSON.stringify(kept), 0));
  const calls = parts.filter((part) => part.kind === 'call');
  return {
    ref,
    calls: calls.map(({ id, name, input }): AskedCall => {
      const problem = problemOf(name, input, names);
      const call = { id, name, input: texts.add(input, INLINE_CALL_BYTES) };
      if (problem !== null) return { ...call, problem };
      return asks.includes(name) ? { ...call, asks: true } : call;
    }),
  };
}

function problemOf(name: string, input: string, names: readonly string[]): string | null {
  if (!names.includes(name)) return `There is no tool ${name}. You can call: ${names.join(', ')}.`;
  if (argumentsIn(input) !== null) return null;
  return `The arguments are not a JSON object; they begin ${JSON.stringify(input.slice(0, 200))}. Write all of them again.`;
}

/** Returns the reference of a text that was kept however short it is. */
export function referenceIn(kept: Text): TextRef {
  if (typeof kept === 'string') throw new Error('an empty text has no reference');
  return kept;
}

/** Reads the tools and the exchange of a model call. */
export async function readToolUse(
  store: Store,
  { list, names, mayCall, mustCall, after }: ToolTurn,
): Promise<ToolUse> {
  const offered = await readOffered(store, list);
  const tools = offered.filter(({ name }) => names.includes(name));
  return { tools, mayCall, ...(mayCall && mustCall && { mustCall }), turns: await readTurns(store, after) };
}

export async function readOffered(store: Store, list: ListedTools['list']): Promise<OfferedTool[]> {
  return JSON.parse(await readText(store, list)) as OfferedTool[];
}

async function readTurns(store: Store, after: Exchange | null): Promise<Turn[]> {
  if (after === null) return [];
  const { parent, results, parts } = JSON.parse(await readText(store, after.turn)) as KeptTurn;
  const before = await readTurns(store, parent && { turn: parent, results });
  const told = await Promise.all(
    after.results.map(async ({ id, name, output, changedTo, outcome }): Promise<Part> => ({
      kind: 'result',
      id,
      name,
      text: (await changeTold(store, changedTo)) + (await readText(store, output)),
      ...(outcome !== 'ok' && { isError: true }),
    })),
  );
  const said = await readSaid(store, after.results);
  return [...before, { role: 'assistant', parts }, { role: 'user', parts: [...told, ...said] }];
}

/** Returns what was said beside results, once however many of them came with it. */
async function readSaid(store: Store, results: readonly ToolResult[]): Promise<Part[]> {
  const texts = await Promise.all(results.map(({ said = '' }) => readText(store, said)));
  return [...new Set(texts)].flatMap((text) => (text === '' ? [] : [{ kind: 'text', text }]));
}

async function changeTold(store: Store, changedTo: Text | undefined): Promise<string> {
  if (changedTo === undefined) return '';
  return `A person changed the arguments of this call to ${await readText(store, changedTo)}\n\n`;
}
