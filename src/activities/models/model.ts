import type { ConductorCard, ModelCard } from '../../pool/card';
import type { Usage } from '../../protocol/call';
import type { Message, OutputSchema } from '../../protocol/message';

export type { Message, OutputSchema };

/** One request to one model, in no vendor's dialect. */
export interface ModelRequest {
  readonly card: ModelCard | ConductorCard;
  readonly messages: readonly Message[];
  readonly maxOutputTokens: number;
  readonly outputSchema?: OutputSchema;
  readonly seed?: number;
  /** The key's value, read from the environment by the caller; null where the server wants none. */
  readonly apiKey: string | null;
  /** Aborts the HTTP request; `reason` is kept. */
  readonly signal: AbortSignal;
}

/** Why a model stopped: `stop` is a whole answer, `length` a cut one, `refusal` none. */
export type FinishReason = 'stop' | 'length' | 'refusal';

/** What came back, in no vendor's dialect. A refusal or length stop is a reply too: it was billed. */
export interface ModelReply {
  readonly text: string;
  readonly finish: FinishReason;
  /** The model's own words on why it refused, if it gave any. */
  readonly refusal: string | null;
  readonly usage: Usage | null;
  /** What the provider says it charged, where it says so and it is above 0. */
  readonly reportedNanoUsd: number | null;
  /** Names of settings of the card that were left out, e.g. `temperature`. */
  readonly dropped: readonly string[];
}

/** The one verb behind every provider. Sends exactly one HTTP request; throws whatever the SDK throws. */
export type Complete = (request: ModelRequest) => Promise<ModelReply>;
