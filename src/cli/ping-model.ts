import { complete } from '../local/complete';
import { billOf } from '../money/nano-usd';
import { toProviderFailure } from '../activities/models/failure';
import { judgeReply } from '../activities/models/judge-reply';
import type { ModelReply } from '../activities/models/model';
import type { ConductorCard, ModelCard } from '../pool/card';
import type { Config } from '../pool/config-schema';
import type { ServedPolicy } from '../policy/served-policy';
import { keyFor } from '../pool/keys';

/** What came of one tiny call. */
export interface Ping {
  /** null when the model answered. */
  readonly problem: string | null;
  readonly latencyMs: number;
  /** Both null where the provider did not say, or no price is known. */
  readonly tokens: number | null;
  readonly nanoUsd: number | null;
}

const MESSAGES = [{ role: 'user', text: 'Reply with the single word: ready' }] as const;

/**
 * Calls a model once, with the settings and the key that a run would use; a failure is a result like another.
 *
 * @param policy where a checkpoint is served, for a card that names one
 */
export async function pingModel(
  card: ConductorCard | ModelCard,
  config: Config,
  policy?: ServedPolicy,
): Promise<Ping> {
  const apiKey = keyFor(card, config, process.env);
  const signal = AbortSignal.timeout(card.timeoutMs);
  const { provider, model, timeoutMs, maxOutputTokens } = card;
  const context = {
    worker: 'id' in card ? card.id : null,
    provider,
    model,
    signal,
    secret: apiKey,
    timeoutMs,
  };
  const begun = performance.now();
  const since = (): number => Math.round(performance.now() - begun);
  try {
    const reply = await complete({
      card,
      messages: MESSAGES,
      maxOutputTokens,
      apiKey,
      signal,
      ...(policy && { policy }),
    });
    const judgement = judgeReply(reply, context);
    const problem = judgement.usable ? null : judgement.failure.message;
    return { problem, latencyMs: since(), ...costOf(reply, card) };
  } catch (error) {
    const problem = toProviderFailure(error, context)?.message ?? 'the call was broken off';
    return { problem, latencyMs: since(), tokens: null, nanoUsd: null };
  }
}

function costOf(
  { usage, reportedNanoUsd }: ModelReply,
  { price }: ConductorCard | ModelCard,
): Pick<Ping, 'tokens' | 'nanoUsd'> {
  return {
    tokens: usage === null ? null : usage.inputTokens + usage.outputTokens,
    nanoUsd: reportedNanoUsd ?? billOf(usage, price),
  };
}
