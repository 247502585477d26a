import type { Message, OutputSchema } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import type { CalledCard } from '../../protocol/cards';
import type { Part, ToolUse, Turn } from '../../protocol/parts';
import { openOnce } from '../../runtime/turns';
import type { Diagnosis } from './diagnose';
import { toldTurns } from './told-turns';

/** One request to one model, independent of the vendor. */
export interface ModelRequest {
  readonly card: CalledCard;
  readonly messages: readonly Message[];
  /** Set if the model may call tools, or has called some. Local models and checkpoints have none. */
  readonly toolUse?: ToolUse;
  /** Number of characters at the start of the turns that other calls share; a prompt cache may keep them. */
  readonly sharedCharacters?: number;
  readonly maxOutputTokens: number;
  /** Set if the run has this limit and no smaller one applies: text that is cut off there is an answer. */
  readonly maxAnswerTokens?: number;
  readonly outputSchema?: OutputSchema;
  readonly seed?: number;
  readonly apiKey: string | null;
  /** Shared by all attempts of a call. */
  readonly callId?: string;
  /** Aborts the HTTP request: with a `TimeoutError` after `timeoutMs`, or because it was cancelled. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Receives each piece of the answer's text as it arrives, if the model streams. */
  readonly onText?: (text: string) => void;
  /** Set if the server does not support `stream_options`: a stream then reports no usage. */
  readonly withoutStreamOptions?: true;
  /** Set if the server refuses the usual one of `max_tokens` and `max_completion_tokens`. */
  readonly withOtherLimitName?: true;
}

/** `stop` is a whole answer, `length` a cut one, `refusal` none. */
export type FinishReason = 'stop' | 'length' | 'refusal';

export interface ModelReply {
  readonly text: string;
  /** Thoughts that the vendor shows apart from the text, or that were taken out of it; absent if there are none. */
  readonly thoughts?: string;
  /** Everything that the model wrote, if it calls tools; it wants all of that back, in this order. */
  readonly turn?: readonly Part[];
  readonly finish: FinishReason;
  /** The model's reason for refusing, if it gave one. */
  readonly refusal: string | null;
  readonly usage: Usage | null;
  readonly reportedNanoUsd: number | null;
  /** Names of settings that were left out, e.g. `temperature`. */
  readonly dropped: readonly string[];
}

/** Operation of every provider: sends one HTTP request, or more if the server refuses a feature. Throws as the SDK. */
export type Complete = (request: ModelRequest) => Promise<ModelReply>;

export type ModelPlace = Pick<ModelRequest, 'card' | 'apiKey' | 'signal'>;

type KeyedEndpoint = Omit<ModelPlace, 'signal'>;

/**
 * Caches one SDK client per endpoint and key: creating one takes a third of a millisecond, and Google's may print a
 * warning. Clients hold no sockets, so none needs closing.
 */
export function oneForEachPlace<Client>(
  make: (place: KeyedEndpoint) => Promise<Client>,
): (place: KeyedEndpoint) => Promise<Client> {
  const clients = new Map<string, Promise<Client>>();
  return ({ card, apiKey }) =>
    openOnce(clients, JSON.stringify([card.baseUrl, card.proxy, apiKey]), () => make({ card, apiKey }));
}

/** Lists the ids of the models at an endpoint, at most one page; free of charge. Throws whatever the SDK throws. */
export type ListModels = (place: ModelPlace) => Promise<readonly string[]>;

/** Status of an answer that a vendor writes in the background. */
export type Progress =
  | { readonly status: 'running' }
  | { readonly status: 'answered'; readonly reply: ModelReply }
  /** The reply holds the text and usage so far; null if the vendor no longer knows the answer. */
  | { readonly status: 'failed'; readonly reply: ModelReply | null; readonly diagnosis: Diagnosis };

/**
 * Operations of a provider that writes answers in the background: any process that knows the id may fetch the answer.
 * Each sends exactly one HTTP request and throws whatever the SDK throws.
 */
export interface BackgroundCalls {
  /** Starts an answer; the only one of the three that costs money. */
  readonly begin: (request: ModelRequest) => Promise<{ readonly id: string; readonly progress: Progress }>;
  readonly look: (request: ModelRequest, id: string) => Promise<Progress>;
  /** Asks the vendor to stop; what it wrote until then may be billed. A finished answer stays as it is. */
  readonly cancel: (request: ModelRequest, id: string) => Promise<Progress>;
}

/** Names the model that made an opaque block: only that one can read it. */
export function makerOf({ provider, api, baseUrl, model }: CalledCard): string {
  return JSON.stringify([provider, api, baseUrl, model]);
}

/**
 * Converts a request to a shape that every vendor accepts: one system text, which may be empty, then alternating turns,
 * since many chat templates behind OpenAI-compatible servers refuse repeated roles. Leaves out the opaque blocks of
 * other models.
 */
export function toConversation({
  card,
  messages,
  toolUse,
}: Pick<ModelRequest, 'card' | 'messages' | 'toolUse'>): { system: string; turns: readonly Turn[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const [place, { role, text, calls }] of messages.entries()) {
    const last = turns.at(-1);
    const [before] = last?.parts ?? [];
    if (calls !== undefined) turns.push(...toldTurns(text, calls, place));
    else if (role === 'system') system.push(text);
    else if (last?.role === role && before?.kind === 'text') {
      turns[turns.length - 1] = { role, parts: [{ kind: 'text', text: `${before.text}\n\n${text}` }] };
    } else turns.push({ role, parts: [{ kind: 'text', text }] });
  }
  return { system: system.join('\n\n'), turns: [...turns, ...readableTurns(card, toolUse)] };
}

function readableTurns(card: CalledCard, { turns }: Pick<ToolUse, 'turns'> = { turns: [] }): Turn[] {
  const maker = makerOf(card);
  const isReadable = (part: Part): boolean => part.kind !== 'opaque' || part.madeBy === maker;
  return turns.map(({ role, parts }) => ({ role, parts: parts.filter(isReadable) }));
}

/** Returns whether OpenAI's strict mode accepts a schema: each object requires all its properties, and no others. */
export function isStrict({ schema }: OutputSchema): boolean {
  const isFit = (part: unknown): boolean => {
    if (typeof part !== 'object' || part === null) return true;
    const { type, properties, required, additionalProperties } = part as Record<string, unknown>;
    const names = Object.keys(Object(properties) as object);
    const isClosed =
      additionalProperties === false &&
      Array.isArray(required) &&
      names.every((name) => required.includes(name));
    return (type !== 'object' || isClosed) && Object.values(part).every(isFit);
  };
  return schema.type === 'object' && isFit(schema);
}

/** Sampling settings. A model supports all or none of them; an API may support only some. */
type Drawn = 'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'seed';

export interface Settings<Effort extends string> extends Readonly<Partial<Record<Drawn, number>>> {
  readonly maxOutputTokens: number;
  readonly effort?: Effort;
  /** Thinking budget in tokens; 0 disables thinking. */
  readonly thinking?: number;
  readonly outputSchema?: OutputSchema;
  readonly dropped: readonly string[];
}

/**
 * Narrows a request to the settings that both the model's card and the vendor's API (`api`) support. The others are
 * undefined, which JSON leaves out, and those that were asked for are listed as dropped.
 */
export function chooseSettings<Effort extends string>(
  { card, seed, outputSchema, maxOutputTokens }: ModelRequest,
  api: { readonly lacks?: readonly Drawn[]; readonly efforts: readonly Effort[] },
): Settings<Effort> {
  const { sampling, effort: levels, thinking: thinks, jsonSchema, maxOutputTokens: most } = card.capabilities;
  const { temperature, topP, topK, presencePenalty, effort, thinking } = card;
  const asked = { temperature, topP, topK, presencePenalty, seed, effort, thinking, outputSchema };
  const drawn = (name: Drawn): number | undefined =>
    sampling && api.lacks?.includes(name) !== true ? (asked[name] ?? undefined) : undefined;
  const room = Math.min(maxOutputTokens, most ?? Infinity);
  const given = {
    temperature: drawn('temperature'),
    topP: drawn('topP'),
    topK: drawn('topK'),
    presencePenalty: drawn('presencePenalty'),
    seed: drawn('seed'),
    effort: api.efforts.find((level) => level === effort && levels.includes(level)),
    // A run may allow fewer output tokens than the card, and thinking must fit into them.
    thinking: thinks === true && thinking !== undefined && thinking < room ? thinking : undefined,
    outputSchema: jsonSchema ? outputSchema : undefined,
  };
  const names = Object.keys(given) as (keyof typeof given)[];
  const dropped = names.filter((name) => asked[name] != null && given[name] === undefined);
  return { ...given, maxOutputTokens: room, dropped };
}
