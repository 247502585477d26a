import { TOPOLOGIES, TOPOLOGY_NAMES } from '../../plan/topology';
import { counted, describeUsd } from '../../trace/describe';
import { FAILURES } from '../failure-kinds';
import type { Learned } from '../results';
import { MOST_ATTEMPTS } from '../methods/samples';
import { dollars, plain } from '../report/formats';
import type { Chart, Heading, Picture } from '../report/page';
import type { Report, Table } from '../report/report';
import { type ScoredPoint, scoreCostChart, scoreLineChart, sharesChart } from '../report/score-charts';
import { sharesOf } from '../statistics';
import type { MethodSummary, Preferences, Summary } from '../summarize';
import { compareSentence, describeChance, seconds, tableOf } from './table';

/** The results in sentences. */
export function findingsOf(summary: Summary): string[] {
  const { complete, questions, methods, reference, againstBestWorker, usd, lost, learned, log } = summary;
  const ungraded = methods.reduce((sum, method) => sum + method.ungraded, 0);
  const unjudged = ungraded - (log ? questions - log.known : 0) * methods.length;
  const cost = usd === null ? 'cost unknown, since a price is.' : `${describeUsd(usd)} in all.`;
  return [
    `${counted(complete, 'question')} of ${questions}, seed ${summary.seed}, ${cost}`,
    ...findingsOfLog(summary),
    againstBestWorker &&
      compareSentence(reference, againstBestWorker, ', the best worker alone on these questions'),
    ...methods.map((method) => method.capped > 0 && describeCapped(method, summary)),
    learned && describeLearned(learned),
    lost > 0 && `${counted(lost, 'call')} were lost in crashes or time-outs: what they cost is not in it.`,
    unjudged > 0 &&
      `${counted(unjudged, 'answer')} could not be judged, and count neither way: see results.jsonl.`,
  ].filter((sentence) => typeof sentence === 'string');
}

function describeCapped({ method, capped, usd }: MethodSummary, { methods, reference }: Summary): string {
  const other = methods.find((each) => each.method === reference)?.usd ?? null;
  const cost =
    usd === null || other === null
      ? ''
      : `: it cost ${describeUsd(usd)} a question, and ${reference} ${describeUsd(other)}`;
  return (
    `${method} is not at equal cost on ${counted(capped, 'question')}, where it stopped at ${MOST_ATTEMPTS} attempts, ` +
    `the most it makes${cost}.`
  );
}

function describeLearned({ from, questions, answers, repeated, nanoUsd }: Learned): string {
  const cost = nanoUsd === null ? 'at a cost that is unknown' : `for ${describeUsd(nanoUsd / 1e9)}`;
  const left =
    repeated === 0 ? '' : ` ${counted(repeated, 'question')} of it are asked here, and were left out.`;
  return (
    `learned-router learned from ${counted(answers, 'answer')} to ${counted(questions, 'question')} of evaluation ${from}, ` +
    `made ${cost}, which is not in its USD.${left}`
  );
}

/** What a single model would have cost and found on questions of the log, a sentence each; nothing for a file's. */
function findingsOfLog({ log, methods, reference, questions }: Summary): string[] {
  const logged = methods.find(({ method }) => method === reference);
  if (log === undefined || logged === undefined) return [];
  const flattery =
    log.unanswered === 0
      ? '.'
      : `; ${log.unanswered} ended without one and cannot be drawn, which flatters the Conductor.`;
  const others = methods.filter((method) => method !== logged);
  return [
    `They were drawn from ${counted(log.answered, 'solve')} of the log that have an answer${flattery}`,
    'Answers and costs of the Conductor are those of the log, whatever was configured then; the others are of today.',
    ...others.flatMap((other) => [
      `${other.method} would have cost: ${compareCosts(logged, other)}.`,
      `${other.method} took ${describeEffort(other)}, the Conductor ${describeEffort(logged)}, waits included.`,
      ...compareQuality(logged, other, questions - log.known),
    ]),
  ];
}

function compareCosts({ usd }: MethodSummary, { usd: other, costGain }: MethodSummary): string {
  if (usd === null || other === null || costGain === null) {
    return 'what both cost cannot be compared, since a price is unknown';
  }
  const [low, high] = costGain.interval.map(describeGain);
  const bounds = low === high ? 'just that' : `between ${high ?? ''} and ${low ?? ''}`;
  const factor = other > 0 ? `, ${(usd / other).toFixed(1)} times as much` : '';
  return (
    `${describeUsd(other)} a question instead of ${describeUsd(usd)}: the Conductor cost ` +
    `${describeGain(costGain.usd)} (with 95 % confidence ${bounds})${factor}`
  );
}

/** How the Conductor's cost differs, given what the other method costs more in USD. */
function describeGain(more: number): string {
  return `${describeUsd(Math.abs(more))} ${more > 0 ? 'less' : 'more'}`;
}

function describeEffort({ tokens, calls, latencyMs }: MethodSummary): string {
  const count = Math.round(tokens).toLocaleString('en-US');
  return `${count} tokens, ${calls.toFixed(1)} calls and ${seconds(latencyMs.median)} in the median`;
}

function compareQuality(
  logged: MethodSummary,
  { method, comparison, preferences }: MethodSummary,
  open: number,
): string[] {
  const sentences: string[] = [];
  if (comparison !== null) {
    const compared = compareSentence(method, comparison, `, ${counted(comparison.pairs, 'question')}`);
    sentences.push(`Where the right answer is known: ${compared}`);
  }
  if (preferences !== null) sentences.push(describePreferences(logged.method, method, preferences));
  else if (open > 0) {
    sentences.push(
      `Quality was not judged on ${counted(open, 'question')}: their right answers are not known, and no judge was ` +
        'asked. Name a file of questions that has them, or have the verifier compare the answers with --judge.',
    );
  }
  return sentences;
}

function describePreferences(reference: string, method: string, preferences: Preferences): string {
  const { won, lost, tied, unjudged, p } = preferences;
  const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
  return (
    `Where it is not, the verifier, asked in both orders, preferred the answer of ${reference} ${times(lost)}, that of ` +
    `${method} ${times(won)}, and neither ${times(tied)}: p ${describeChance(p)} by the sign test` +
    `${p < 0.05 ? '' : ', so it may be chance'}. It is a model's opinion, not a verdict.` +
    (unjudged === 0 ? '' : ` ${counted(unjudged, 'pair')} could not be compared: see results.jsonl.`)
  );
}

const describeColumns = (reference: string): string =>
  'Score: right answers of those that could be judged, with Wilson’s interval. Difference: from the ' +
  `score of ${reference}, question by question, with p of McNemar’s exact test; what could be found is the smallest ` +
  'difference that so many questions show four times out of five. USD, tokens, calls: means per question, the ' +
  'Conductor’s own calls included. Latency: median and 95th percentile of a question, waits included.';

function plansAndFailures({ methods }: Summary): Table[] {
  const describe = (counts: Readonly<Record<string, number>>, names: readonly string[]): string =>
    names.flatMap((name) => (counts[name] === undefined ? [] : `${name} ${counts[name]}`)).join(', ');
  const rows = methods.map(({ method, topologies, failures }) => [
    method,
    describe(topologies, TOPOLOGIES),
    describe(failures, FAILURES),
  ]);
  const told = rows.filter(([, plans, failures]) => plans !== '' || failures !== '');
  const head = ['method', 'plans, by their graph', 'wrong answers, by what went wrong'];
  return told.length === 0 ? [] : [{ rows: [head, ...told], numeric: false }];
}

export function reportOf(summary: Summary, pictures: readonly Picture[]): Report {
  return {
    title: `Evaluation ${summary.id}`,
    parts: [
      `Questions: ${summary.file}. Workers: ${summary.workers.join(', ')}.`,
      ...findingsOf(summary),
      { rows: tableOf(summary), numeric: true },
      describeColumns(summary.reference),
      ...plansAndFailures(summary),
      ...pictures,
      'Every verdict, with the ids of its runs for "temporal-conductor trace", is a line of "results.jsonl".',
    ],
  };
}

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
