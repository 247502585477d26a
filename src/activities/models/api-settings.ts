import type { ModelRequest, OutputSchema } from './model';

/** Settings that a vendor's API has a field for, whatever the model. */
export interface ApiSettings<Effort extends string> {
  readonly seed: boolean;
  readonly efforts: readonly Effort[];
}

/** Settings of one request beyond its messages; null where nothing is asked. */
export interface Settings<Effort extends string> {
  readonly maxOutputTokens: number;
  readonly temperature: number | null;
  readonly seed: number | null;
  readonly effort: Effort | null;
  readonly outputSchema: OutputSchema | null;
  /** Names of the settings that were asked for and left out, as above. */
  readonly dropped: readonly string[];
}

/** Narrows a request to what both the model, by its card, and the vendor's API can be asked for. */
export function chooseSettings<Effort extends string>(
  { card, seed, outputSchema, maxOutputTokens }: ModelRequest,
  api: ApiSettings<Effort>,
): Settings<Effort> {
  const { sampling, effort: levels, jsonSchema, maxOutputTokens: most } = card.capabilities;
  const asked = { temperature: card.temperature, seed, effort: card.effort, outputSchema };
  const given = {
    temperature: sampling ? card.temperature : null,
    seed: sampling && api.seed ? (seed ?? null) : null,
    effort: api.efforts.find((level) => level === card.effort && levels.includes(level)) ?? null,
    outputSchema: jsonSchema ? (outputSchema ?? null) : null,
  };
  const dropped = (['temperature', 'seed', 'effort', 'outputSchema'] as const).filter(
    (name) => (asked[name] ?? null) !== null && given[name] === null,
  );
  return { ...given, maxOutputTokens: Math.min(maxOutputTokens, most ?? Infinity), dropped };
}
