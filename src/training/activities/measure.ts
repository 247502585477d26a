import { Context } from '@temporalio/activity';
import { METRICS, record } from '../../telemetry/metrics';
import type { CanaryDecision, CycleMetrics, GateDecision } from '../records';

/** Records the figures of a closed cycle. */
export function measureCycle({ rewardMean, times, verdicts }: CycleMetrics): void {
  const { metricMeter } = Context.current();
  record(metricMeter, METRICS.trainingReward, rewardMean, {});
  record(metricMeter, METRICS.trainingCycleSeconds, times.whole / 1000, {});
  for (const [verdict, count] of Object.entries(verdicts)) {
    if (count > 0) record(metricMeter, METRICS.trainingRollouts, count, { verdict });
  }
}

/** Records the gate's decision on a candidate. */
export function measureGate({ promoted }: Pick<GateDecision, 'promoted'>): void {
  record(Context.current().metricMeter, METRICS.trainingGate, 1, {
    outcome: promoted ? 'promoted' : 'kept_out',
  });
}

/** Records a promotion that was taken back; one that holds is recorded already. */
export function measureCanary({ rolledBack }: Pick<CanaryDecision, 'rolledBack'>): void {
  if (rolledBack) record(Context.current().metricMeter, METRICS.trainingGate, 1, { outcome: 'rolled_back' });
}
