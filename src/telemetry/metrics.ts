import type { MetricMeter } from '@temporalio/common';

/** Metric of ours. A label's values are words of this product or names of its configuration: never a person's, or a run's. */
export interface Metric<Label extends string = string> {
  readonly name: `conductor_${string}`;
  readonly kind: 'counter' | 'histogram';
  /** One sentence for whoever reads a scrape. */
  readonly help: string;
  readonly labels: readonly Label[];
  /** Upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

const SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600];
const LONG_SECONDS = [1, 5, 15, 60, 300, 900, 3_600, 14_400, 43_200, 86_400];

/** All metrics of this product. Prometheus adds `_total` to the name of a counter. */
export const METRICS = {
  modelCalls: counter(
    'conductor_model_calls',
    ['provider', 'model', 'purpose', 'outcome'],
    'Requests to models that have ended; outcome: answered, or the type of the failure.',
  ),
  modelCallSeconds: histogram(
    'conductor_model_call_seconds',
    ['provider', 'model', 'purpose', 'outcome'],
    'Time from a request to its end.',
    SECONDS,
  ),
  tokens: counter(
    'conductor_tokens',
    ['provider', 'model', 'purpose', 'type'],
    'Tokens as providers counted them; cached and cache_write are parts of input, reasoning is a part of output.',
  ),
  cost: counter(
    'conductor_cost_nano_usd',
    ['provider', 'model', 'purpose'],
    'Cost of ended requests in billionths of a USD; unknown costs are left out, so it is at least this.',
  ),
  waitSeconds: histogram(
    'conductor_wait_seconds',
    ['reason', 'provider', 'model'],
    'Waits: of a call for its rate, its concurrency or its circuit, or of a run for a person (without provider and model).',
    LONG_SECONDS,
  ),
  solves: counter(
    'conductor_solves',
    ['status'],
    'Solves that have ended: completed, failed or cancelled; the Conductor asking itself counts with its solve.',
  ),
  planRepairs: counter(
    'conductor_plan_repairs',
    ['provider', 'model', 'outcome'],
    'Repairs of a reply that was no plan; outcome: repaired, or invalid again.',
  ),
  budgetRefusals: counter(
    'conductor_budget_refusals',
    ['limit'],
    'Runs, or parts of them, that a limit has stopped: calls, tokens, cost, wallClock or approval.',
  ),
  trainingReward: histogram(
    'conductor_training_reward',
    [],
    'Mean reward of a training cycle; below 0 counts as 0.',
    [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
  ),
  trainingCycleSeconds: histogram(
    'conductor_training_cycle_seconds',
    [],
    'Time that a training cycle took.',
    LONG_SECONDS,
  ),
  trainingRollouts: counter(
    'conductor_training_rollouts',
    ['verdict'],
    'Rollouts of training cycles by verdict.',
  ),
  trainingGate: counter(
    'conductor_training_gate',
    ['outcome'],
    'Decisions of the gate on a checkpoint: promoted, kept_out, or rolled_back after its promotion.',
  ),
};

/** Buckets of our histograms, for whoever installs the SDK's `Runtime`: its own end at 10. */
export const METRIC_BUCKETS: Readonly<Record<string, number[]>> = Object.fromEntries(
  Object.values<Metric>(METRICS).flatMap(({ name, buckets }) =>
    buckets === undefined ? [] : [[name, [...buckets]]],
  ),
);

/**
 * Records a value by the meter of an activity or a workflow, and so with the exporter that the process installed, if any.
 * Never throws over a value, since no call may fail by being measured: the SDK refuses negative ones, one NaN would
 * stay in its sum for good, and a fraction would add nothing to a counter.
 */
export function record<Label extends string>(
  host: MetricMeter,
  { name, kind, help }: Metric<Label>,
  value: number,
  labels: Readonly<Record<NoInfer<Label>, string>>,
): void {
  if (!Number.isFinite(value)) return;
  const least = Math.max(0, value);
  if (kind === 'counter') host.createCounter(name, undefined, help).add(Math.round(least), labels);
  else host.createHistogram(name, 'float', undefined, help).record(least, labels);
}

function counter<const Label extends string>(
  name: Metric['name'],
  labels: readonly Label[],
  help: string,
): Metric<Label> {
  return { name, kind: 'counter', help, labels };
}

function histogram<const Label extends string>(
  name: Metric['name'],
  labels: readonly Label[],
  help: string,
  buckets: readonly number[],
): Metric<Label> {
  return { name, kind: 'histogram', help, labels, buckets };
}
