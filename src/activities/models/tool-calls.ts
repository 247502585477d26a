import { z } from 'zod';
import { argumentsIn, type CallPart, madeId, type Part, type Turn } from '../../protocol/parts';
import type { ModelReply, ModelRequest } from './model';

/** A call as a vendor sends it, whole or in pieces: servers leave out what they like. */
interface SentCall {
  readonly index?: unknown;
  readonly id?: string | null | undefined;
  readonly name?: string | null | undefined;
  /** A text, or an object that some servers send in its place. */
  readonly input?: unknown;
}

interface GatheredCall {
  readonly id: string;
  readonly name: string;
  input: string;
}

/**
 * Gathers the calls of a reply by one rule for all servers: a new id or a name at an index in use begins another call,
 * arguments that are an object are written out, and what has neither id nor name adds to the last call at its index.
 */
export class CallGatherer {
  private readonly calls: GatheredCall[] = [];
  private readonly open = new Map<unknown, GatheredCall>();

  add({ index, id, name, input }: SentCall): void {
    const [newId, newName] = [id ?? '', name ?? ''];
    const current = index == null ? this.calls.at(-1) : this.open.get(index);
    const isOther = newId === '' ? newName !== '' : newId !== current?.id;
    const added = textOfInput(input);
    if (current !== undefined && !isOther) {
      current.input += added;
      return;
    }
    if (newName === '' && newId === '') return;
    const begun = { id: newId, name: newName, input: added };
    this.calls.push(begun);
    this.open.set(index, begun);
  }

  get all(): readonly Omit<CallPart, 'kind'>[] {
    return this.calls;
  }
}

function textOfInput(input: unknown): string {
  if (typeof input === 'string') return input;
  return input == null ? '' : JSON.stringify(input);
}

/**
 * Returns the part of a reply that asks for tools: its whole turn, which the model wants back. Returns nothing if it
 * asks for none, or was not to.
 * @param parts the turn in its order; calls without an id, or with that of another call, are given one
 */
export function turnOf(
  { toolUse }: Pick<ModelRequest, 'toolUse'>,
  parts: readonly Part[],
): Pick<ModelReply, 'turn'> {
  if (toolUse?.mayCall !== true || !parts.some(({ kind }) => kind === 'call')) return {};
  const taken = new Set<string>();
  const named = parts.map((part, place) => {
    if (part.kind !== 'call') return part;
    const id = part.id === '' || taken.has(part.id) ? madeId(toolUse.turns.length, place) : part.id;
    taken.add(id);
    return { ...part, id, input: part.input.trim() === '' ? '{}' : part.input };
  });
  return { turn: named };
}

/** Most calls of one turn, and characters of a name or id: a run's history and result hold all of them. */
const MOST_CALLS = 64;
const MOST_CHARACTERS = 256;

/** Returns what is too much in the calls of a turn, as what its model did; null if nothing is. */
export function excessOfCalls(turn: readonly Part[]): string | null {
  const calls = turn.filter((part) => part.kind === 'call');
  if (calls.length > MOST_CALLS) {
    return `asked for ${calls.length} calls of tools at once (at most ${MOST_CALLS} are made)`;
  }
  const isLong = calls.some(({ id, name }) => Math.max(id.length, name.length) > MOST_CHARACTERS);
  return isLong ? `asked for a tool by a name or id of over ${MOST_CHARACTERS} characters` : null;
}

/** Whether every call of a turn came whole: a length stop may have cut one. Some servers give no other sign of a call. */
export function isWholeTurn(turn: readonly Part[], finish: ModelReply['finish']): boolean {
  const isWhole = (part: Part): boolean => part.kind !== 'call' || argumentsIn(part.input) !== null;
  return finish === 'stop' || (finish === 'length' && turn.every(isWhole));
}

/** Returns the arguments to send back: vendors refuse a call whose arguments are no object. */
export function sentBack({ input }: CallPart): Readonly<Record<string, unknown>> {
  return argumentsIn(input) ?? {};
}

/** Returns the text of a turn that is nothing else, or null. */
export function plainText({ parts }: Turn): string | null {
  const [only] = parts;
  return parts.length === 1 && only?.kind === 'text' ? only.text : null;
}

export function partsOfKind<Kind extends Part['kind']>(
  { parts }: Turn,
  kind: Kind,
): Extract<Part, { kind: Kind }>[] {
  return parts.filter((part): part is Extract<Part, { kind: Kind }> => part.kind === kind);
}

/** Calls of the Chat API in a message, or in what an event adds to it. */
export const toolCallsSchema = z
  .array(
    z.object({
      index: z.unknown().optional(),
      id: z.string().nullish().catch(null),
      function: z
        .object({ name: z.string().nullish().catch(null), arguments: z.unknown().optional() })
        .nullish()
        .catch(null),
    }),
  )
  .nullish()
  .catch(null)
  .transform((calls) =>
    (calls ?? []).map(({ index, id, function: called }): SentCall => ({
      index,
      id,
      name: called?.name,
      input: called?.arguments,
    })),
  );
