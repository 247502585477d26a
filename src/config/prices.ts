import type { Price } from '../protocol/cards';
import table from './prices.json';
import type { ModelConfig } from './schema';

/** `from` (`YYYY-MM-DD`) is absent where a price held when the table was made. */
interface DatedPrice {
  readonly from?: string;
  readonly price: Price;
}
const BUNDLED: Readonly<Record<string, Readonly<Record<string, readonly DatedPrice[]>>>> = table.endpoints;

/**
 * What a model costs and where the price came from, both null where unknown: the card's own price, else nothing for a
 * local model, else the bundled price of exactly this model at exactly this endpoint. A third party's price is its
 * own: unknown, unless the table holds that endpoint.
 *
 * @param day when the price must hold, since vendors announce changes
 */
export function priceOf(
  config: ModelConfig,
  day: Date,
): { price: Price | null; priceVersion: string | null } {
  if (config.price !== undefined) return { price: config.price, priceVersion: 'card' };
  if (config.provider === 'local') return { price: { input: 0, output: 0 }, priceVersion: 'local' };
  const { origin } = new URL(config.baseUrl ?? VENDORS[config.provider].endpoint);
  const rows = BUNDLED[origin]?.[config.model] ?? [];
  const today = day.toISOString().slice(0, 10);
  const row = rows.findLast(({ from = today }) => from <= today);
  return row ? { price: row.price, priceVersion: table.version } : { price: null, priceVersion: null };
}

/** Where a vendor itself serves, and the variable its own tools read the key from. */
export const VENDORS = {
  openai: { endpoint: 'https://api.openai.com', apiKeyEnv: 'OPENAI_API_KEY' },
  anthropic: { endpoint: 'https://api.anthropic.com', apiKeyEnv: 'ANTHROPIC_API_KEY' },
  google: { endpoint: 'https://generativelanguage.googleapis.com', apiKeyEnv: 'GEMINI_API_KEY' },
} as const;
