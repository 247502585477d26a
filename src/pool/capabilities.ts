import table from './capabilities.json';
import type { Capabilities } from './card';
import type { ModelConfig } from './config-schema';

/** Bundled capabilities by provider and the beginning of a model's name, longest beginning first: it tells most. */
const KNOWN = table.models
  .flatMap(({ provider, prefixes, ...capabilities }) =>
    prefixes.map((prefix) => ({ provider, prefix, capabilities })),
  )
  .sort((a, b) => b.prefix.length - a.prefix.length);

/**
 * What a model can be asked for: the card's own word, else the bundled table's.
 *
 * An unknown model of a vendor is taken for a newer one, which refuses sampling settings; an unknown model of another
 * server for an open one, which takes them and may know no schema.
 */
export function capabilitiesOf({ provider, model, capabilities, ...settings }: ModelConfig): Capabilities {
  const { vendor, compatibleServer } = table.otherModels;
  const other = 'baseUrl' in settings ? compatibleServer : vendor;
  const known = KNOWN.find((row) => row.provider === provider && model.startsWith(row.prefix));
  return { ...(known?.capabilities ?? other), ...capabilities };
}
