import { hash } from 'node:crypto';
import { FAILURES } from '../../protocol/failures';
import { causesOf, diagnose } from './diagnose';
import { MOST_READ } from './failures/said';
import type { Complete, ModelReply, ModelRequest } from './model';
import { ReportedFailure } from './reply';
import { TransportError } from './transport';

/** A field of our requests that a server may refuse, and the request without it. */
interface Field {
  /** Name under which a trace lists it as dropped; null if another name replaces it, so that nothing is lost. */
  readonly dropped: string | null;
  /** Vendors' names for it. Each server words a refusal differently, but names the field or the method. */
  readonly names: RegExp;
  readonly isSent: (request: ModelRequest) => boolean;
  readonly leaveOut: (request: ModelRequest) => ModelRequest;
  /** A message may also be about its value, which is a mistake in the configuration. */
  readonly hasRange?: true;
}

/** A setting of the card that decides how tokens are drawn. */
function drawn(name: 'temperature' | 'topP' | 'topK' | 'presencePenalty', names: RegExp): Field {
  return {
    dropped: name,
    names,
    isSent: ({ card }) => card.capabilities.sampling && card[name] != null,
    leaveOut: (request) => ({
      ...request,
      card: { ...request.card, [name]: name === 'temperature' ? null : undefined },
    }),
    hasRange: true,
  };
}

const FIELDS: readonly Field[] = [
  {
    dropped: 'stream_options',
    names: /\bstream_options\b/i,
    isSent: ({ card, withoutStreamOptions }) =>
      card.idleTimeoutMs !== undefined && withoutStreamOptions !== true,
    leaveOut: (request) => ({ ...request, withoutStreamOptions: true }),
  },
  {
    dropped: 'stream',
    names: /\bstream(?!_options)/i,
    isSent: ({ card }) => card.idleTimeoutMs !== undefined,
    leaveOut: (request) => ({ ...request, card: { ...request.card, idleTimeoutMs: undefined } }),
  },
  {
    dropped: null,
    names: /\bmax_(?:completion_)?tokens\b/i,
    isSent: ({ card, withOtherLimitName }) => card.api === 'chat' && withOtherLimitName !== true,
    leaveOut: (request) => ({ ...request, withOtherLimitName: true }),
    hasRange: true,
  },
  drawn('temperature', /\btemperature\b/i),
  drawn('topP', /\btop_?p\b/i),
  drawn('topK', /\btop_?k\b/i),
  drawn('presencePenalty', /\bpresence_?penalty\b/i),
  {
    dropped: 'seed',
    names: /\bseed\b/i,
    isSent: ({ card, seed }) => card.capabilities.sampling && seed !== undefined,
    leaveOut: (request) => ({ ...request, seed: undefined }),
    hasRange: true,
  },
];

/** Refused for one schema, and accepted for another, so it is remembered with the schema. */
const SCHEMA: Field = {
  dropped: 'outputSchema',
  names: /schema|response_?format|response[\s_]?mime|output_config|output_format/i,
  isSent: ({ outputSchema }) => outputSchema !== undefined,
  leaveOut: (request) => ({ ...request, outputSchema: undefined }),
};

/**
 * Retries a request without the fields that a server refuses, one at a time, and remembers them for the life of the
 * process. The reply lists them as dropped. A refused request costs nothing, and prompts describe the required output
 * themselves.
 */
export function withoutRefused(complete: Complete): Complete {
  const byPlace = new Map<string, readonly Field[]>();
  // Schemas are the callers': they share a bounded memory, apart from that of the servers.
  const bySchema = new Map<string, readonly Field[]>();

  function learn(request: ModelRequest, without: readonly Field[]): void {
    const ofServer = without.filter((field) => field !== SCHEMA);
    if (ofServer.length > 0) byPlace.set(requestKey(request), ofServer);
    if (without.includes(SCHEMA)) remember(bySchema, requestKey(request, request.outputSchema), [SCHEMA]);
  }

  async function ask(request: ModelRequest, known: readonly Field[]): Promise<ModelReply> {
    for (let without = known; ;) {
      const applied = without.filter(({ isSent }) => isSent(request));
      const sent = applied.reduce((rest, { leaveOut }) => leaveOut(rest), request);
      try {
        const reply = await complete(sent);
        if (without !== known) learn(request, without);
        return { ...reply, dropped: [...reply.dropped, ...applied.flatMap(({ dropped }) => dropped ?? [])] };
      } catch (error) {
        const refused = refusedIn(error, sent);
        if (refused === null || without.includes(refused)) throw error;
        without = [...without, refused];
      }
    }
  }

  return (request) => {
    const ofServer = byPlace.get(requestKey(request)) ?? [];
    const ofSchema = request.outputSchema && bySchema.get(requestKey(request, request.outputSchema));
    return ask(request, [...ofServer, ...(ofSchema ?? [])]);
  };
}

/** Schemas remembered. A forgotten one costs another refused request, which is free. */
export const MOST_SCHEMAS = 100;

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  const [oldest] = memory.keys();
  if (memory.size > MOST_SCHEMAS && oldest !== undefined) memory.delete(oldest);
}

/** Returns the key of remembered refusals. Some models refuse a temperature only while they think. */
function requestKey({ card }: ModelRequest, schema?: ModelRequest['outputSchema']): string {
  const { provider, api, baseUrl, model, effort, thinking } = card;
  return hash('sha256', JSON.stringify([provider, api, baseUrl, model, effort, thinking, schema]));
}

/** Finds the refused field, first the one that the server itself points at. */
function refusedIn(error: unknown, request: ModelRequest): Field | null {
  const words = wordsOfRefusal(error);
  const isAboutValue = OF_A_RANGE.test(words) && !IS_UNSUPPORTED.test(words);
  const sent = [...FIELDS, SCHEMA].filter(
    ({ isSent, hasRange }) => isSent(request) && !(hasRange === true && isAboutValue),
  );
  const [, param = ''] = /"param":\s{0,9}"([^"]{1,80})"/.exec(words) ?? [];
  return sent.find(({ names }) => names.test(param)) ?? sent.find(({ names }) => names.test(words)) ?? null;
}

const OF_A_RANGE =
  /\bat (?:most|least)\b|\b(?:maximum|minimum|between|range|larger|greater|less|fewer|lower|higher|above|below|positive|negative|integer|number|reduce|context)\b|\bexceed|\btoo (?:large|high|low|small|many|long)\b|[<>≤≥]|_(?:above|below)_/i;
const IS_UNSUPPORTED =
  /unsupported|unknown_parameter|\bnot (?:supported|permitted|allowed|accepted|recogni[sz]ed|taken)\b|unrecogni[sz]ed|unexpected|unknown|\bextra_?(?: inputs| fields|forbidden)|only the default|does(?: not|n't) (?:support|accept)|deprecated|\bremoved\b|\binstead\b/i;

const REFUSING: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501]);
/** Failures that are about something else, whatever field their words name. */
const OTHER_CAUSES: ReadonlySet<string> = new Set([
  FAILURES.quotaExceeded,
  FAILURES.refused,
  FAILURES.authentication,
  FAILURES.rateLimited,
  FAILURES.unavailable,
]);

/** Returns the words of a server that refuses a request, or an empty text for any other error. */
function wordsOfRefusal(error: unknown): string {
  if (OTHER_CAUSES.has(diagnose(error).type)) return '';
  for (const cause of causesOf(error)) {
    if (cause instanceof ReportedFailure && !cause.hasBegun) {
      return [...cause.said.codes, cause.said.sentence].join(' ').slice(0, MOST_READ);
    }
    const answer = cause instanceof TransportError ? cause.answer : null;
    if (answer && REFUSING.has(answer.status)) return answer.body.slice(0, MOST_READ);
  }
  return '';
}
