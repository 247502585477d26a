import type { ConductorConfig } from '../../config/schema';
import { durationMs } from '../../config/settings';
import type { ConductorCard } from '../../protocol/cards';

/** The configuration of a Conductor that is a checkpoint trained here. */
export type PolicyConfig = Extract<ConductorConfig, { readonly provider: 'policy' }>;

/** Plans are short; the checkpoint's manifest knows better. */
const OUTPUT_TOKENS = 1024;

/**
 * The card of a checkpoint as far as the configuration tells: which one it is, and so how it must be asked, stands in
 * the store and is filled in when a run is resolved.
 */
export function policyCard(config: PolicyConfig): ConductorCard {
  const { baseUrl = null, checkpoint, timeout } = config;
  return {
    provider: 'policy',
    model: checkpoint ?? 'the checkpoint that serves',
    api: null,
    baseUrl,
    apiKeyEnv: null,
    maxOutputTokens: OUTPUT_TOKENS,
    temperature: null,
    effort: null,
    timeoutMs: durationMs(timeout),
    capabilities: { sampling: true, effort: [], jsonSchema: false, maxOutputTokens: null },
    price: { input: 0, output: 0 },
    priceVersion: 'local',
    describe: 'ordinals',
  };
}
