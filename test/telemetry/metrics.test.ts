import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type MetricMeter, type MetricTags, noopMetricMeter } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { measureCall, measureRepair, measureWait } from '../../src/activities/measure';
import { configuredCards } from '../../src/config/api-keys';
import { parseConfig } from '../../src/config/load';
import { type Metric, METRIC_BUCKETS, METRICS, record } from '../../src/telemetry/metrics';
import { askedBy, readQueries } from './queries';

interface Recorded {
  readonly name: string;
  readonly value: number;
  readonly labels: MetricTags;
}

/** Meter of the SDK's shape that keeps what it is given. */
function keepingMeter(): { readonly meter: MetricMeter; readonly kept: Recorded[] } {
  const kept: Recorded[] = [];
  const keep =
    (name: string) =>
    (value: number, labels: MetricTags = {}) => {
      kept.push({ name, value, labels });
    };
  const meter: MetricMeter = {
    createCounter: (name) => ({ ...noopMetricMeter.createCounter(name), add: keep(name) }),
    createHistogram: (name) => ({ ...noopMetricMeter.createHistogram(name), record: keep(name) }),
    createGauge: (name) => noopMetricMeter.createGauge(name),
    withTags: () => meter,
  };
  return { meter, kept };
}

const ALL = Object.values<Metric>(METRICS);

test('a value that the SDK would refuse or lose is made one that counts, or left out', () => {
  const { meter, kept } = keepingMeter();
  for (const value of [1.6, 0.2, -3, NaN, Infinity])
    record(meter, METRICS.solves, value, { status: 'failed' });
  expect(kept.map(({ value }) => value)).toEqual([2, 0, 0]);
  kept.length = 0;
  for (const value of [0.25, -0.5, NaN]) record(meter, METRICS.trainingReward, value, {});
  expect(kept.map(({ value }) => value)).toEqual([0.25, 0]);
});

test('a name that the configuration does not have makes no series, however many there are', async () => {
  const config = parseConfig({
    conductor: { provider: 'openai', model: 'boss', baseUrl: 'http://127.0.0.1:1/v1' },
    workers: [{ id: 'a', provider: 'openai', model: 'known', baseUrl: 'http://127.0.0.1:1/v1' }],
  });
  const [, card] = configuredCards(config);
  if (card === undefined) throw new Error('the configuration has no worker');
  const { meter, kept } = keepingMeter();
  const environment = new MockActivityEnvironment({}, { metricMeter: meter });
  const time = new Date().toISOString();
  const row = {
    ...{
      callId: 'x',
      rootId: 'SECRET',
      workflowId: 'SECRET',
      runId: 'SECRET',
      worker: 'SECRET',
      model: 'SECRET',
    },
    ...{ purpose: 'step' as const, round: 0, step: 0, attempt: 1, priceVersion: null },
    ...{ error: null, usage: null, nanoUsd: 1_500, startedAt: time, endedAt: time },
  };
  const cards = [
    card,
    ...Array.from({ length: 50 }, (_, index) => ({ ...card, model: `stranger-${index}` })),
    ...Array.from({ length: 50 }, (_, index) => ({
      ...card,
      provider: 'policy' as const,
      model: `nightly/${index}`,
    })),
  ];
  for (const each of cards) {
    await environment.run(() => {
      measureCall(config, each, row);
      measureRepair(config, each, false);
      measureWait(config, each, { reason: 'rate', waitMs: 1_500 });
      return Promise.resolve();
    });
  }
  const names = new Set(kept.map(({ labels }) => `${String(labels.provider)} ${String(labels.model)}`));
  expect([...names]).toEqual(['openai known', 'openai other', 'policy checkpoint']);
  expect(JSON.stringify(kept)).not.toContain('SECRET');
  const sumOf = (metric: Metric) =>
    kept.filter(({ name }) => name === metric.name).reduce((sum, { value }) => sum + value, 0);
  expect([METRICS.cost, METRICS.modelCalls, METRICS.waitSeconds].map(sumOf)).toEqual([151_500, 101, 151.5]);
});

test('buckets of calls reach ten minutes, and every histogram has some', () => {
  expect(METRIC_BUCKETS[METRICS.modelCallSeconds.name]?.at(-1)).toBe(600);
  const histograms = ALL.filter(({ kind }) => kind === 'histogram').map(({ name }) => name);
  expect(Object.keys(METRIC_BUCKETS)).toEqual(histograms);
});

test('the page lists every metric with its labels, and no other', () => {
  const page = readFileSync(join(__dirname, '..', '..', 'docs', 'operate.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(conductor_\w+)` +\| (\w+) +\| ([^|]*?) +\|/gm)];
  expect(rows.map(([, name, kind, labels]) => [name, kind, labels])).toEqual(
    ALL.map(({ name, kind, labels }) => [
      kind === 'counter' ? `${name}_total` : name,
      kind,
      labels.map((label) => `\`${label}\``).join(', '),
    ]),
  );
});

test('dashboard and alerts ask for metrics and labels that there are; the dashboard draws every metric', () => {
  const known = new Map(
    ALL.map(({ name, kind, labels }) => [kind === 'counter' ? `${name}_total` : name, labels]),
  );
  const { dashboard, alerts } = readQueries();
  const asked = [...dashboard, ...alerts].flatMap(askedBy);
  const ours = asked.filter(({ family }) => family.startsWith('conductor_'));
  const unknown = ours.filter(({ family, labels }) => {
    const own = known.get(family);
    return own === undefined || labels.some((label) => !own.includes(label));
  });
  expect(unknown).toEqual([]);
  const drawn = new Set(dashboard.flatMap(askedBy).map(({ family }) => family));
  expect([...known.keys()].filter((name) => !drawn.has(name))).toEqual([]);
});
