import type { ModelProvider, Price } from '../protocol/cards';
import table from './prices.json';
import type { ModelConfig } from './schema';

/** A bundled price, in force from a day on. */
interface DatedPrice {
  /** `YYYY-MM-DD`; absent where it was in force when the table was made. */
  readonly from?: string;
  readonly price: Price;
}

const BUNDLED: Readonly<Record<string, Readonly<Record<string, readonly DatedPrice[]>>>> = table.endpoints;

const FREE: Price = { input: 0, output: 0 };

/** A price and where it came from; both null where it is unknown. */
export interface KnownPrice {
  readonly price: Price | null;
  readonly priceVersion: string | null;
}

/**
 * What a model costs: the card's own price, else nothing for a local model, else the bundled price of exactly this
 * model at exactly this endpoint. A third party's price is its own: unknown, unless the table holds that endpoint.
 *
 * @param day when the price must hold, since vendors announce changes
 */
export function priceOf(config: ModelConfig, day: Date): KnownPrice {
  if (config.price !== undefined) return { price: config.price, priceVersion: 'card' };
  if (config.provider === 'local') return { price: FREE, priceVersion: 'local' };
  const { origin } = new URL(config.baseUrl ?? VENDORS[config.provider].endpoint);
  const rows = BUNDLED[origin]?.[config.model] ?? [];
  const today = day.toISOString().slice(0, 10);
  const row = rows.findLast(({ from = today }) => from <= today);
  return row === undefined
    ? { price: null, priceVersion: null }
    : { price: row.price, priceVersion: table.version };
}

/** Where a vendor itself serves, and the variable its own tools read the key from. */
interface Vendor {
  readonly endpoint: string;
  readonly apiKeyEnv: string;
}

/** The vendors whose models this package can call without being told an address. */
export const VENDORS: Readonly<Record<Exclude<ModelProvider, 'local' | 'policy'>, Vendor>> = {
  openai: { endpoint: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  anthropic: { endpoint: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  google: { endpoint: 'https://generativelanguage.googleapis.com', apiKeyEnv: 'GEMINI_API_KEY' },
};
