import { TOPOLOGIES } from '../../plan/topology';
import { counted, describeUsd } from '../../trace/describe';
import { signed, widthOf, wrap, wrapFacts } from '../../trace/lines';
import { FAILURE_KINDS } from '../failure-kinds';
import { MOST_ATTEMPTS } from '../methods/samples';
import type { Picture } from '../../report/chart';
import type { Report, Table } from '../../report/report';
import type { Learned } from '../results';
import type { Comparison } from '../compare-pairs';
import type { MethodSummary, Preferences, Summary } from '../summarize';

/** @param details parts below the table: breakdowns, settings, disagreements */
export function reportOf(
  summary: Summary,
  pictures: readonly Picture[],
  details: Report['parts'] = [],
): Report {
  return {
    title: `Evaluation ${summary.id}`,
    parts: [
      `Questions: ${summary.file}. Workers: ${summary.workers.join(', ')}.`,
      ...findingsOf(summary),
      { rows: tableOf(summary), numeric: true },
      describeColumns(summary),
      ...plansAndFailures(summary),
      ...details,
      ...pictures,
      'Every verdict, with the ids of its runs for "temporal-conductor trace", is a line of "results.jsonl".',
    ],
  };
}

function describeColumns({ reference, repeats = 1 }: Summary): string {
  const [score, test] =
    repeats > 1
      ? [
          `pass@1, the mean over questions of the share of ${repeats} tries that were right, with its standard error`,
          'Intervals and p by resampling questions with all their tries.',
        ]
      : [
          'right answers of those that could be judged, with Wilson’s interval',
          'Interval and p by the score test of paired shares (McNemar, Tango).',
        ];
  return (
    `Score: ${score}. Difference: from the score of ${reference}, question by question. ${test} Holm: p adjusted for the ` +
    'number of methods. Could find: the smallest difference that this many questions detect with a power of 80 %. ' +
    'USD, tokens, calls: means per question, the Conductor’s own calls included. Latency: median and 95th percentile of a ' +
    'question, waits included.'
  );
}

/** Renders table and sentences for a terminal. @param columns undefined: no terminal */
export function showSummary(summary: Summary, columns = Infinity): string {
  const findings = findingsOf(summary).flatMap((finding) => wrap([finding], columns));
  return [showTable(tableOf(summary), columns), '', ...findings].join('\n');
}

/** Returns the findings as sentences. */
export function findingsOf(summary: Summary): string[] {
  const { complete, questions, methods, reference, againstBestWorker, usd, lost, learned, log } = summary;
  const { repeats = 1, primary } = summary;
  const ungraded = methods.reduce((sum, method) => sum + method.ungraded, 0);
  const unjudged = ungraded - (log ? questions - log.known : 0) * methods.length;
  const cost = usd === null ? 'cost unknown, since a price is missing.' : `${describeUsd(usd)} in all.`;
  return [
    repeats === 1
      ? `${counted(complete, 'question')} of ${questions}, seed ${summary.seed}, ${cost}`
      : `${complete} of ${questions} tries, ${repeats} of each question, seed ${summary.seed}, ${cost}`,
    primary !== undefined && describePrimary(summary, primary),
    ...findingsOfLog(summary),
    againstBestWorker && compareWithBest(summary, reference, againstBestWorker),
    ...methods.map(({ method, degraded, questions: tries }) => {
      const count = Math.round((degraded ?? 0) * tries);
      return (
        count > 0 &&
        `${method}: ${count} of ${tries} runs were degraded: a plan or step failed, or a fallback was used.`
      );
    }),
    ...methods.map((method) => method.capped > 0 && describeCapped(method, summary)),
    learned && describeLearned(learned),
    lost > 0 && `Crashes or timeouts lost ${counted(lost, 'call')}, whose cost is not included.`,
    unjudged > 0 &&
      `${counted(unjudged, 'answer')} could not be judged: scores leave them out, separate rows count them as wrong; ` +
        'see results.jsonl.',
  ].filter((sentence) => typeof sentence === 'string');
}

/** Describes the primary comparison: it was named before the run, so that its p needs no adjustment. */
function describePrimary({ methods }: Summary, primary: string): string | false {
  const found = methods.find(({ method }) => method === primary);
  if (!found?.comparison) return false;
  return compareSentence(primary, found.comparison, ', the primary comparison, named before the run');
}

function describeCapped({ method, capped, usd }: MethodSummary, { methods, reference }: Summary): string {
  const other = methods.find((each) => each.method === reference)?.usd ?? null;
  return (
    `${method} is not at equal cost on ${counted(capped, 'question')}, where it stopped at ${MOST_ATTEMPTS} attempts, ` +
    `its maximum: it cost ${costOf(usd)} a question, and ${reference} ${costOf(other)}.`
  );
}

function costOf(usd: number | null): string {
  return usd === null ? 'an unknown amount' : describeUsd(usd);
}

function describeLearned({ from, questions, answers, repeated, nanoUsd }: Learned): string {
  return (
    `learned-router learned from ${counted(answers, 'answer')} to ${counted(questions, 'question')} of evaluation ${from}, ` +
    `which cost ${costOf(nanoUsd && nanoUsd / 1e9)}, not included in its USD; left out, since asked here: ` +
    `${counted(repeated, 'question')}.`
  );
}

/** Describes the cost and quality of the other methods on logged questions; empty for questions of a file. */
function findingsOfLog({ log, methods, reference, questions }: Summary): string[] {
  const logged = methods.find(({ method }) => method === reference);
  if (log === undefined || logged === undefined) return [];
  const others = methods.filter((method) => method !== logged);
  const flattery =
    log.unanswered === 0
      ? '.'
      : `; ${log.unanswered} ended without one and cannot be drawn, which flatters the Conductor.`;
  return [
    `They were drawn from ${counted(log.answered, 'solve')} in the log that have an answer${flattery}`,
    'The Conductor’s answers and costs are those in the log, under the configuration of that time; the others are current.',
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
  const [low, high] = costGain.interval;
  const bounds = low === high ? 'just that' : `between ${describeGain(high)} and ${describeGain(low)}`;
  const factor = other > 0 ? `, ${(usd / other).toFixed(1)} times as much` : '';
  return (
    `${describeUsd(other)} a question instead of ${describeUsd(usd)}: the Conductor cost ` +
    `${describeGain(costGain.usd)} (with 95 % confidence ${bounds})${factor}`
  );
}

/** Describes the difference of the Conductor's cost, given how much more the other method costs in USD. */
function describeGain(more: number): string {
  return `${describeUsd(Math.abs(more))} ${more > 0 ? 'less' : 'more'}`;
}

function describeEffort({ tokens, calls, latencyMs }: MethodSummary): string {
  const count = Math.round(tokens).toLocaleString('en-US');
  return `${count} tokens, ${calls.toFixed(1)} calls and a median of ${seconds(latencyMs.median)}`;
}

function compareQuality(
  { method: reference }: MethodSummary,
  { method, comparison, preferences }: MethodSummary,
  open: number,
): string[] {
  const pairs = comparison && `, ${counted(comparison.pairs, 'question')}`;
  const known = pairs && `Where the right answer is known: ${compareSentence(method, comparison, pairs)}`;
  const unknown =
    open > 0 &&
    `Quality was not judged on ${counted(open, 'question')}: their right answers are not known, and no judge was ` +
      'asked. Name a file of questions that has them, or have the verifier compare the answers with --judge.';
  const sentences = [known, preferences ? describePreferences(reference, method, preferences) : unknown];
  return sentences.filter((sentence) => typeof sentence === 'string');
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

/** Compares one method with another in a sentence. @param whom describes the other one */
function compareSentence(one: string, comparison: Comparison, whom: string): string {
  const { against, gain, interval, p, pairs } = comparison;
  const [low, high] = interval.map(signed);
  const found = `${one} against ${against}${whom}: ${signed(gain)}, between ${low} and ${high}, p ${describeChance(p)}.`;
  if (p < 0.05) return found;
  const smallest = describeSmallest(comparison);
  return `${found} No difference was found; the smallest that ${counted(pairs, 'question')} can detect: ${smallest}.`;
}

/** Compares the reference with the best single worker; if the scores do not differ, a much lower cost counts. */
function compareWithBest({ methods }: Summary, one: string, comparison: Comparison): string {
  const { against, p } = comparison;
  const found = compareSentence(one, comparison, ', the best single worker on these questions');
  const costOfMethod = (name: string): number => methods.find(({ method }) => method === name)?.usd ?? NaN;
  const [cheap = one, dear = one] = [one, against].toSorted((a, b) => costOfMethod(a) - costOfMethod(b));
  const times = costOfMethod(dear) / costOfMethod(cheap);
  if (p < 0.05 || !(times >= MUCH_CHEAPER)) return found;
  const share = Number.isFinite(times) ? `1/${times.toFixed(times < 10 ? 1 : 0)} of the cost` : 'no cost';
  return `${found} As far as these questions can tell, ${cheap} is as good as ${dear}, at ${share}.`;
}

/** Ratio of costs from which a comparison mentions it. */
const MUCH_CHEAPER = 1.5;

function plansAndFailures({ methods }: Summary): Table[] {
  const describe = (counts: Readonly<Record<string, number>>, names: readonly string[]): string =>
    names.flatMap((name) => (counts[name] === undefined ? [] : `${name} ${counts[name]}`)).join(', ');
  const rows = methods
    .map((each) => [
      each.method,
      describe(each.topologies, TOPOLOGIES),
      describe(each.failures, FAILURE_KINDS),
      each.steps?.toFixed(1) ?? NOTHING,
      `${(100 * (each.degraded ?? 0)).toFixed(1)} %`,
    ])
    .filter(([, plans, failures]) => plans !== '' || failures !== '');
  const head = ['method', 'plans, by their graph', 'wrong answers, by what went wrong', 'steps', 'degraded'];
  return rows.length === 0 ? [] : [{ rows: [head, ...rows], numeric: false }];
}

const NOTHING = '–';

const COLUMNS: Readonly<Record<string, (method: MethodSummary) => string>> = {
  method: ({ method }) => method,
  score: ({ score }) => score?.toFixed(3) ?? NOTHING,
  's.e.': ({ standardError }) => standardError?.toFixed(3) ?? NOTHING,
  '95 % interval': ({ interval }) => interval?.map((bound) => bound.toFixed(3)).join('–') ?? NOTHING,
  difference: ({ comparison }) => (comparison ? signed(comparison.gain) : NOTHING),
  p: ({ comparison }) => (comparison ? describeChance(comparison.p) : NOTHING),
  Holm: ({ adjustedP }) => (adjustedP === null ? NOTHING : describeChance(adjustedP)),
  'could find': ({ comparison }) => (comparison ? describeSmallest(comparison) : NOTHING),
  USD: ({ usd }) => (usd === null ? 'unknown' : describeUsd(usd)),
  tokens: ({ tokens }) => Math.round(tokens).toLocaleString('en-US'),
  calls: ({ calls }) => calls.toFixed(1),
  'median time': ({ latencyMs }) => seconds(latencyMs.median),
  '95 % time': ({ latencyMs }) => seconds(latencyMs.p95),
  'not judged': ({ ungraded }) => String(ungraded),
};

/** Returns a head and a row for each method, without empty columns. */
function tableOf({ methods, log }: Summary): string[][] {
  const rows = methods.flatMap((method) => {
    const row = Object.values(COLUMNS).map((cellOf) => cellOf(method));
    // Most logged questions have no known right answer, so unjudged answers do not count as wrong.
    return log === undefined && method.strict !== null ? [row, strictRow(method, method.strict)] : [row];
  });
  const isFilled = (_: string, column: number): boolean => rows.some((row) => row[column] !== NOTHING);
  return [Object.keys(COLUMNS), ...rows].map((row) => row.filter(isFilled));
}

const STRICT: ReadonlySet<string> = new Set([
  'score',
  's.e.',
  '95 % interval',
  'difference',
  'p',
  'could find',
]);

/** Returns a second row that counts unjudged answers as wrong. */
function strictRow(method: MethodSummary, strict: NonNullable<MethodSummary['strict']>): string[] {
  return Object.entries(COLUMNS).map(([head, cellOf]) => {
    if (head === 'method') return `${method.method}, unjudged as wrong`;
    return STRICT.has(head) ? cellOf({ ...method, ...strict }) : NOTHING;
  });
}

export function describeChance(p: number): string {
  return p < 0.001 ? '< 0.001' : p.toFixed(3);
}

/** Describes the smallest difference that can be found; scores differ by at most 1. */
function describeSmallest({ smallestGain }: Comparison): string {
  return smallestGain === null || smallestGain >= 1 ? 'none' : smallestGain.toFixed(3);
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

const INDENT = 2;

/** Renders a table; if it is too wide, each row becomes a paragraph, with the column's head beside each cell. */
export function showTable(rows: readonly (readonly string[])[], columns: number): string {
  const [head = [], ...methods] = rows;
  const widths = head.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const padded = (cell: string, column: number): string => {
    const gap = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
    return column === 0 ? cell + gap : gap + cell;
  };
  const lines = rows.map((row) => row.map(padded).join('  ').trimEnd());
  if (lines.every((line) => widthOf(line) <= columns)) return lines.join('\n');
  const paragraphs = methods.flatMap(([name = '', ...cells]) => {
    const facts = cells.map((cell, column) => cell !== NOTHING && `${head[column + 1] ?? ''} ${cell}`);
    const below = wrapFacts(facts, columns - INDENT).map((line) => ' '.repeat(INDENT) + line);
    return [...wrap([name], columns), ...below];
  });
  return paragraphs.join('\n');
}
