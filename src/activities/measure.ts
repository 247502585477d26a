import { Context } from '@temporalio/activity';
import { configuredCards } from '../config/api-keys';
import type { Config } from '../config/schema';
import type { CalledCard } from '../protocol/cards';
import type { LedgerRow } from '../store/ledger';
import { METRICS, record } from '../telemetry/metrics';
import type { RateRefusal } from './rate-limits/window';

/** Records a request that has ended, from its completed ledger row. */
export function measureCall(
  config: Config,
  card: CalledCard,
  row: LedgerRow & { readonly endedAt: string },
): void {
  const { purpose, error, usage, nanoUsd, startedAt, endedAt } = row;
  const { metricMeter } = Context.current();
  const call = { ...labelsOf(config, card), purpose };
  const ended = { ...call, outcome: error?.type ?? 'answered' };
  record(metricMeter, METRICS.modelCalls, 1, ended);
  record(metricMeter, METRICS.modelCallSeconds, (Date.parse(endedAt) - Date.parse(startedAt)) / 1000, ended);
  if (nanoUsd !== null) record(metricMeter, METRICS.cost, nanoUsd, call);
  if (usage === null) return;
  const {
    inputTokens: input,
    outputTokens: output,
    cachedInputTokens: cached,
    reasoningTokens: reasoning,
  } = usage;
  const tokens = { input, output, cached, cache_write: usage.cacheWriteTokens ?? 0, reasoning };
  for (const [type, count] of Object.entries(tokens)) {
    if (count > 0) record(metricMeter, METRICS.tokens, count, { ...call, type });
  }
}

/** Records whether a repair of an invalid reply brought a plan. */
export function measureRepair(config: Config, card: CalledCard, isRepaired: boolean): void {
  const outcome = isRepaired ? 'repaired' : 'invalid';
  record(Context.current().metricMeter, METRICS.planRepairs, 1, { ...labelsOf(config, card), outcome });
}

/** Records how long a call is to wait before its model may be asked. */
export function measureWait(config: Config, card: CalledCard, { reason, waitMs }: RateRefusal): void {
  record(Context.current().metricMeter, METRICS.waitSeconds, waitMs / 1000, {
    reason,
    ...labelsOf(config, card),
  });
}

/**
 * Names a card's model within bounds: a run brings its own cards, and checkpoints are made each night, so that only what
 * this process's configuration names has a series of its own.
 */
function labelsOf(config: Config, { provider, model }: CalledCard): { provider: string; model: string } {
  if (provider === 'policy') return { provider, model: 'checkpoint' };
  const isNamed = configuredCards(config).some((own) => own.provider === provider && own.model === model);
  return { provider, model: isNamed ? model : 'other' };
}
