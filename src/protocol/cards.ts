import type { ExampleSet, Layout, Plan } from '../plan/plan';

/** Settings that a model's API takes. One that it lacks is left out of the request and recorded as dropped. */
export interface Capabilities {
  /** `temperature` and `seed` are accepted. */
  readonly sampling: boolean;
  /** Effort levels, lowest first; empty where the model has no such setting. */
  readonly effort: readonly string[];
  readonly jsonSchema: boolean;
  /** The most output tokens one request may ask for; null where unknown. */
  readonly maxOutputTokens: number | null;
}

/** USD per million tokens. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** For input that the provider had cached; absent where that costs the same. */
  readonly cachedInput?: number;
  /** For input that it wrote to its cache; absent where that costs the same. */
  readonly cacheWrite?: number;
  /** For what it writes to be kept for an hour; absent where that costs as much as other writes. */
  readonly hourCacheWrite?: number;
}

interface TierPrice extends Rates {
  /** Rates of a whole request whose input has more than `over` tokens. */
  readonly longPrompt?: Rates & { readonly over: number };
}

export interface Price extends TierPrice {
  /**
   * Service tiers but the usual one, by the vendor's word: a factor on every rate above, or a price of its own. A tier
   * that is not listed has an unknown price; where there is no list at all, the price holds in each.
   */
  readonly tiers?: Readonly<Record<string, number | TierPrice>>;
}

/** `policy`: a checkpoint that was trained here; only a Conductor can be one. */
export type ModelProvider = 'openai' | 'anthropic' | 'google' | 'local' | 'policy';

interface ModelSettings {
  readonly provider: ModelProvider;
  readonly model: string;
  /** Which of OpenAI's two APIs to speak; null for the other vendors. */
  readonly api: 'responses' | 'chat' | null;
  /** Answers are written at the vendor while no one waits (Responses API only); absent where the connection is held. */
  readonly background?: true;
  readonly baseUrl: string | null;
  /** Name of the environment variable that holds the key; null where the server wants none. */
  readonly apiKeyEnv: string | null;
  readonly maxOutputTokens: number;
  readonly temperature: number | null;
  readonly effort: string | null;
  /** Time limit of one request. */
  readonly timeoutMs: number;
  readonly capabilities: Capabilities;
  /** null: unknown, so costs of this card are unknown too. */
  readonly price: Price | null;
  /** Where the price came from: `card`, or the bundled table's version. */
  readonly priceVersion: string | null;
}

export interface ModelCard extends ModelSettings {
  readonly kind: 'model';
  readonly id: string;
  readonly notes: string | null;
  /** Ids of workers that stand in when this one has failed for good. */
  readonly fallback: readonly string[];
  readonly layout: Layout;
  /** The system text of each request; absent where it has none. */
  readonly instructions?: string;
}

/** A worker that is any Temporal activity or workflow: takes a `WorkerRequest`, returns `{ text, usage? }`. */
export interface ExternalCard extends Pick<ModelCard, 'id' | 'notes' | 'fallback' | 'timeoutMs'> {
  readonly kind: 'activity' | 'workflow';
  readonly type: string;
  readonly taskQueue: string;
  /** USD per call, however often Temporal repeats it; absent if unknown. */
  readonly price?: { readonly perCall: number };
}

export interface ConductorCard extends ModelSettings {
  /** Description of the workers in the prompt: only ordinals, their ids, or their notes. */
  readonly describe: 'ordinals' | 'names' | 'notes';
  /** `<training run>/<name>` of the checkpoint that this is; absent where it is prompted, and until a run is resolved. */
  readonly checkpoint?: string;
  /** How much it is told beside the question, see `ConductorPrompt`. @default 'full' */
  readonly prompt?: 'full' | 'compact';
  /** Shown in a full prompt. @default 'everyday' */
  readonly examples?: ExampleSet;
  /** The first plan of every solve, for which no model is asked. */
  readonly plan?: Plan;
}
