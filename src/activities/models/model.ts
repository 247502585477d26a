import type { Message, OutputSchema } from '../../plan/plan';
import type { Usage } from '../../protocol/solve';
import type { ConductorCard, ModelCard } from '../../protocol/cards';
import type { Diagnosis } from './diagnose';

export type { Message, OutputSchema };

/** One request to one model, in no vendor's dialect. */
export interface ModelRequest {
  readonly card: ModelCard | ConductorCard;
  readonly messages: readonly Message[];
  /** How many characters at the start of its turns other calls share with it: a cache may keep them. */
  readonly sharedCharacters?: number;
  readonly maxOutputTokens: number;
  /** Set where that is what the asker wants, and no smaller limit binds: text that is cut off there is an answer. */
  readonly maxAnswerTokens?: number;
  readonly outputSchema?: OutputSchema;
  readonly seed?: number;
  readonly apiKey: string | null;
  /** Equal for each attempt of one call. */
  readonly callId?: string;
  /** Aborts the HTTP request: by a `TimeoutError` when `timeoutMs` are over, else because it was cancelled. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Hears each piece of the answer's text as it comes, where the model streams. */
  readonly onText?: (text: string) => void;
  /** Set where the server knows no `stream_options`: a stream then brings no usage. */
  readonly withoutStreamOptions?: true;
}

/** `stop` is a whole answer, `length` a cut one, `refusal` none. */
export type FinishReason = 'stop' | 'length' | 'refusal';

export interface ModelReply {
  readonly text: string;
  readonly finish: FinishReason;
  /** The model's own words on why it refused, if it gave any. */
  readonly refusal: string | null;
  readonly usage: Usage | null;
  readonly reportedNanoUsd: number | null;
  /** Names of settings that were left out, e.g. `temperature`. */
  readonly dropped: readonly string[];
}

/** The verb behind every provider: sends exactly one HTTP request, and throws whatever the SDK throws. */
export type Complete = (request: ModelRequest) => Promise<ModelReply>;

export type ModelPlace = Pick<ModelRequest, 'card' | 'apiKey' | 'signal'>;

type Place = Omit<ModelPlace, 'signal'>;

/**
 * Keeps one client of an SDK for each endpoint and key: making one takes a third of a millisecond, and Google's may print
 * a warning. Clients hold no sockets, so there is nothing to close.
 */
export function oneForEachPlace<Client>(
  make: (place: Place) => Promise<Client>,
): (place: Place) => Promise<Client> {
  const clients = new Map<string, Promise<Client>>();
  return (place) => {
    const id = JSON.stringify([place.card.baseUrl, place.apiKey]);
    const known = clients.get(id);
    if (known !== undefined) return known;
    const client = make(place);
    clients.set(id, client);
    client.catch(() => clients.delete(id));
    return client;
  };
}

/** The ids of the models at a place, at most one page of them; free of charge. Throws whatever the SDK throws. */
export type ListModels = (place: ModelPlace) => Promise<readonly string[]>;

/** An answer that a vendor writes in the background. */
export type Progress =
  | { readonly status: 'running' }
  | { readonly status: 'answered'; readonly reply: ModelReply }
  /** The reply holds what there was of text and usage; null where the vendor knows of no such answer any more. */
  | { readonly status: 'failed'; readonly reply: ModelReply | null; readonly diagnosis: Diagnosis };

/**
 * The verbs behind a provider that goes on writing while no one waits: any process that knows the id may come for the
 * answer. Each sends exactly one HTTP request and throws whatever the SDK throws.
 */
export interface BackgroundCalls {
  /** Starts an answer: the only one of the three that buys something. */
  readonly begin: (request: ModelRequest) => Promise<{ readonly id: string; readonly progress: Progress }>;
  readonly look: (request: ModelRequest, id: string) => Promise<Progress>;
  /** Has the vendor stop; what it wrote until then may be billed. An answer that is over stays as it is. */
  readonly cancel: (request: ModelRequest, id: string) => Promise<Progress>;
}

type Turn = Message & { readonly role: 'user' | 'assistant' };

/**
 * A conversation in the shape every vendor accepts: one system text, which may be empty, then turns that alternate, since
 * many chat templates behind OpenAI-compatible servers refuse repeated roles.
 */
export function toConversation(messages: readonly Message[]): { system: string; turns: readonly Turn[] } {
  const system: string[] = [];
  const turns: Turn[] = [];
  for (const { role, text } of messages) {
    const last = turns.at(-1);
    if (role === 'system') system.push(text);
    else if (last?.role === role) turns[turns.length - 1] = { role, text: `${last.text}\n\n${text}` };
    else turns.push({ role, text });
  }
  return { system: system.join('\n\n'), turns };
}

/** Settings of one request beyond its messages; null where nothing is asked. */
export interface Settings<Effort extends string> {
  readonly maxOutputTokens: number;
  readonly temperature: number | null;
  readonly topP: number | null;
  readonly topK: number | null;
  readonly presencePenalty: number | null;
  readonly seed: number | null;
  readonly effort: Effort | null;
  /** 0: no thoughts. */
  readonly thinking: number | null;
  readonly outputSchema: OutputSchema | null;
  readonly dropped: readonly string[];
}

/** Whether OpenAI's strict mode takes a schema: each object lists all of its properties as required, and has no others. */
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

/** Fields of a request, but for those that are not asked for. */
export function withoutNulls<Of extends object>(fields: Of): { [Name in keyof Of]?: NonNullable<Of[Name]> } {
  const asked = Object.entries(fields).filter(([, value]) => value !== null);
  return Object.fromEntries(asked) as { [Name in keyof Of]?: NonNullable<Of[Name]> };
}

/** Narrows a request to what both the model, by its card, and the vendor's API (`api`) can be asked for. */
export function chooseSettings<Effort extends string>(
  { card, seed, outputSchema, maxOutputTokens }: ModelRequest,
  api: { readonly lacks?: readonly Drawn[]; readonly efforts: readonly Effort[] },
): Settings<Effort> {
  const { sampling, effort: levels, thinking: thinks, jsonSchema, maxOutputTokens: most } = card.capabilities;
  const { temperature, topP, topK, presencePenalty, effort, thinking } = card;
  const asked = { temperature, topP, topK, presencePenalty, seed, effort, thinking, outputSchema };
  const drawn = (name: Drawn): number | null =>
    sampling && api.lacks?.includes(name) !== true ? (asked[name] ?? null) : null;
  const room = Math.min(maxOutputTokens, most ?? Infinity);
  const given = {
    temperature: drawn('temperature'),
    topP: drawn('topP'),
    topK: drawn('topK'),
    presencePenalty: drawn('presencePenalty'),
    seed: drawn('seed'),
    effort: api.efforts.find((level) => level === effort && levels.includes(level)) ?? null,
    // A run may leave less room for an answer than its card, and thoughts must fit into it.
    thinking: thinks === true && thinking !== undefined && thinking < room ? thinking : null,
    outputSchema: jsonSchema ? (outputSchema ?? null) : null,
  };
  const names = Object.keys(given) as (keyof typeof given)[];
  const dropped = names.filter((name) => (asked[name] ?? null) !== null && given[name] === null);
  return { ...given, maxOutputTokens: room, dropped };
}

/** Settings of how tokens are drawn, which a model takes all or none of, and an API some. */
type Drawn = 'temperature' | 'topP' | 'topK' | 'presencePenalty' | 'seed';
