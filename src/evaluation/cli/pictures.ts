import { TOPOLOGIES, TOPOLOGY_NAMES } from '../../plan/topology';
import { dollars, plain } from '../report/formats';
import type { Chart, Heading } from '../report/page';
import { type ScoredPoint, scoreCostChart, scoreLineChart, sharesChart } from '../report/score-charts';
import { sharesOf } from '../statistics';
import type { MethodSummary, Summary } from '../summarize';

/** The charts of an evaluation for which there are data. */
export function chartsOf(summary: Summary): Chart[] {
  const scored = summary.methods.filter(({ score }) => score !== null);
  const byDepth = scored.filter(({ method }) => /^conductor(?::\d)?$/.test(method));
  const planned = scored.filter(({ topologies }) => Object.keys(topologies).length > 0);
  return [
    ...(scored.length > 0 ? [scoreAgainstCost(summary, scored), workerShares(summary, scored)] : []),
    ...(planned.length > 0 ? [topologyShares(summary, planned)] : []),
    ...(byDepth.length > 1 ? [scoreByDepth(summary, byDepth)] : []),
  ];
}

function heading({ file, complete, id }: Summary, title: string, note: string): Heading {
  return { title, subtitle: `${note} · ${complete} questions · evaluation ${id} · ${file}` };
}

function pointOf({ method, score, interval }: MethodSummary): Omit<ScoredPoint, 'cost'> {
  const known = score ?? 0;
  return { name: method, score: known, interval: interval ?? [known, known] };
}

/** Cost in USD per question, or in tokens if a price is unknown or nothing is paid. */
function scoreAgainstCost(summary: Summary, methods: readonly MethodSummary[]): Chart {
  const inUsd = methods.every(({ usd }) => usd !== null && usd > 0);
  return scoreCostChart(
    heading(summary, 'Score against cost', '95 % intervals'),
    methods.map((method) => ({ ...pointOf(method), cost: inUsd ? (method.usd ?? 0) : method.tokens })),
    inUsd ? { name: 'USD per question', format: dollars } : { name: 'tokens per question', format: plain },
  );
}

function workerShares(summary: Summary, methods: readonly MethodSummary[]): Chart {
  return sharesChart(
    'worker-shares',
    heading(summary, 'Who answers', 'share of all answered steps, by worker'),
    {
      parts: summary.workers.map((worker) => ({ part: worker, name: worker })),
      rows: methods.map(({ method, workerShares: shares }) => ({ name: method, shares })),
    },
  );
}

function topologyShares(summary: Summary, methods: readonly MethodSummary[]): Chart {
  const rows = methods.map(({ method, topologies }) => ({ name: method, shares: sharesOf(topologies) }));
  const parts = TOPOLOGIES.filter((part) => rows.some(({ shares }) => part in shares));
  return sharesChart(
    'topology-shares',
    heading(summary, 'Shape of plans', 'share of all first plans, by graph'),
    {
      parts: parts.map((part) => ({ part, name: TOPOLOGY_NAMES[part] })),
      rows,
    },
  );
}

function scoreByDepth(summary: Summary, methods: readonly MethodSummary[]): Chart {
  const points = methods
    .map((method) => ({ ...pointOf(method), name: method.method.split(':')[1] ?? '0' }))
    .toSorted((one, other) => Number(one.name) - Number(other.name));
  const note = 'how deep the Conductor may call itself; 95 % intervals';
  return scoreLineChart('score-depth', heading(summary, 'Score by depth', note), { name: 'depth', points });
}
