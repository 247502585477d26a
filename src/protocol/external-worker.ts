import { isRecord } from '../plan/validate';
import type { Usage } from './solve';
import type { ExternalCard } from './cards';
import { isWhole } from './rules';

/** Result of a worker of kind `activity` or `workflow`; unknown counts are left out of the usage. */
export interface ExternalAnswer {
  readonly text: string;
  readonly usage?: Pick<Usage, 'inputTokens' | 'outputTokens'> & Partial<Usage>;
}

/** Bound beyond any model's counts, so that the sums of a run stay exact. */
const MAX_TOKENS = 1e9;

/** Parses what such a worker returned, without zod (see `input.ts`). @throws Error that says what is wrong */
export function readExternalResult(
  result: unknown,
  { kind, type }: ExternalCard,
): { text: string; usage: Usage | null } {
  const fail = (reason: string): Error =>
    new Error(`${kind} ${type} did not return { text, usage? }: ${reason}`);
  if (!isRecord(result)) throw fail(`it returned ${String(result)}`);
  const { text, usage } = result;
  if (typeof text !== 'string') throw fail(`text is ${typeof text}, and must be a string`);
  if (usage === undefined || usage === null) return { text, usage: null };
  if (!isRecord(usage)) throw fail('usage must be an object');
  const count = (name: keyof Usage, ifMissing?: number): number => {
    const value = usage[name] ?? ifMissing;
    if (isWhole(value, 0, MAX_TOKENS)) return value;
    throw fail(`usage.${name} must be a whole number from 0 to ${MAX_TOKENS}`);
  };
  return {
    text,
    usage: {
      inputTokens: count('inputTokens'),
      outputTokens: count('outputTokens'),
      cachedInputTokens: count('cachedInputTokens', 0),
      reasoningTokens: count('reasoningTokens', 0),
    },
  };
}

/** Returns the cost of a call to a user's own activity or workflow; null if no price is known. */
export function nanoUsdOfCall({ price }: Pick<ExternalCard, 'price'>): number | null {
  return price === undefined ? null : Math.round(price.perCall * 1e9);
}
