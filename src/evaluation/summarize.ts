import { type Failure, failureOf } from './failure-kinds';
import { REFERENCE } from './methods/read-method';
import { MOST_ATTEMPTS } from './methods/samples';
import type { EvaluationManifest, MethodRecord, Preference } from './results';
import { unitOf } from './spent';
import { topologyOf } from '../plan/topology';
import { adjustByHolm, clamp, compareTries, type Comparison, resampleMean } from './compare-pairs';
import {
  meanInterval,
  meanOf,
  meanOfAll,
  percentile,
  shareInterval,
  signTest,
  sumOfAll,
} from '../statistics/statistics';
import { groupBy, sharesOf, sumCounts, tally } from '../statistics/tally';

type Records = readonly MethodRecord[];

/** Results of a method on the questions that every method was tried on. */
export interface MethodSummary extends ReturnType<typeof summarizeMethod> {
  /** Holm-adjusted p of its comparison; null for the primary one, and with fewer than two comparisons. */
  readonly adjustedP: number | null;
}

export interface Preferences extends Readonly<Record<Preference['outcome'], number>> {
  /** Two-sided p of the sign test on `won` and `lost`. */
  readonly p: number;
}

type Evaluated = Pick<
  EvaluationManifest,
  'id' | 'file' | 'seed' | 'workers' | 'questions' | 'methods' | 'log' | 'learned' | 'repeats' | 'primary'
>;

export interface Summary extends Omit<Evaluated, 'methods'> {
  /** Number of tries that every method completed; only these are compared. */
  readonly complete: number;
  readonly reference: string;
  readonly methods: readonly MethodSummary[];
  /** Conductor compared with the best worker alone on these questions; null if either is missing. */
  readonly againstBestWorker: Comparison | null;
  readonly usd: number | null;
  /** Calls missing from `usd`: lost in crashes and timeouts. */
  readonly lost: number;
}

/** Sums up the results on the questions that every method was tried on. */
export function summarize(manifest: Evaluated, records: Records): Summary {
  const { id, file, seed, workers, questions, methods, log, learned, repeats, primary } = manifest;
  const byQuestion = groupBy(records, ({ index }) => index);
  const whole = [...byQuestion.values()].filter((found) => found.length === methods.length);
  const byMethod = groupBy(whole.flat(), ({ method }) => method);
  const of = (method: string): Records => byMethod.get(method) ?? [];
  const reference = methods.includes(REFERENCE) ? REFERENCE : (methods[0] ?? '');
  const setting = { workers, byQuestion, reference, references: of(reference) };
  const found = methods.map((method) => summarizeMethod(method, of(method), setting));
  const summaries = adjust(found, primary);
  const best = reference === REFERENCE ? bestWorker(summaries, workers) : null;
  // Leaves out logged solves, which were paid for earlier.
  const paid = log === undefined ? records : records.filter(({ method }) => method !== REFERENCE);
  const judged = records.flatMap(({ judging }) => judging ?? []);
  const nanoUsd = sumOfAll([...paid.map(({ spent }) => spent), ...judged].map((each) => each.nanoUsd));
  return {
    id,
    file,
    seed,
    workers,
    log,
    repeats,
    primary,
    questions,
    complete: whole.length,
    reference,
    methods: summaries,
    againstBestWorker: best && compare(setting.references, best.method, of(best.method)),
    usd: nanoUsd && nanoUsd / 1e9,
    lost: records.reduce((sum, record) => sum + record.lost, 0),
    learned,
  };
}

interface Setting {
  readonly workers: readonly string[];
  readonly byQuestion: ReadonlyMap<number, Records>;
  /** The Conductor, or the first method if the Conductor is not tried; `references` are its records. */
  readonly reference: string;
  readonly references: Records;
}

function summarizeMethod(
  method: string,
  records: Records,
  { workers, byQuestion, reference, references }: Setting,
) {
  const others = method === reference ? null : { reference, references };
  const judged = judge(records, others, scoreOf);
  const count = (wanted: MethodRecord['verdict']): number =>
    records.filter(({ verdict }) => verdict === wanted).length;
  const latencies = records.map(({ latencyMs }) => latencyMs);
  const mean = (valueOf: (record: MethodRecord) => number): number => meanOf(records.map(valueOf)) ?? 0;
  const nanoUsd = meanOfAll(records.map(({ spent }) => spent.nanoUsd));
  const failures = records.map((record) => failureIn(record, workers, byQuestion.get(record.index) ?? []));
  const isSampled = reference === REFERENCE && /^(?:best-of|vote):/.test(method);
  return {
    method,
    questions: records.length,
    correct: count('correct'),
    ...judged,
    /** Result with unjudged answers counted as wrong; null if there are none. */
    strict: count('ungraded') === 0 ? null : judge(records, others, strictScoreOf),
    unparseable: count('unparseable'),
    ungraded: count('ungraded'),
    costGain: method === reference ? null : compareCosts(records, references),
    preferences: countPreferences(records),
    /** Mean per question, as are `tokens` and `calls`. */
    usd: nanoUsd && nanoUsd / 1e9,
    tokens: mean(({ spent }) => spent.inputTokens + spent.outputTokens),
    calls: mean(({ spent }) => spent.calls),
    /** Questions on which it stopped at `MOST_ATTEMPTS`, though the Conductor's cost allowed more. */
    capped: isSampled ? countCapped(records, references) : 0,
    /** Share of tries in which a fallback replaced the Conductor or a worker, or a step failed. */
    degraded: meanOf(records.map(({ degraded }) => Number(degraded))),
    steps: meanOf(records.flatMap(({ plan }) => (plan === null ? [] : [plan.steps.length]))),
    latencyMs: { median: percentile(latencies, 0.5) ?? 0, p95: percentile(latencies, 0.95) ?? 0 },
    workerShares: sharesOf(sumCounts(records.map(({ workers: answered }) => answered))),
    topologies: tally(records.flatMap(({ plan }) => (plan === null ? [] : (topologyOf(plan) ?? [])))),
    failures: tally(failures.filter((failure) => failure !== null)),
  };
}

/** Counts questions on which the Conductor's cost would have paid for one more attempt of average cost. */
function countCapped(own: Records, others: Records): number {
  const paid = new Map(others.map(({ index, spent }) => [index, spent]));
  return own.filter(({ index, spent }) => {
    const most = paid.get(index);
    if (most === undefined || spent.calls < MOST_ATTEMPTS) return false;
    const measure = unitOf(most);
    return measure(spent) * (1 + 1 / spent.calls) <= measure(most);
  }).length;
}

function failureIn(
  { plan, runs, rounds, outputs, verdict }: MethodRecord,
  workers: readonly string[],
  others: Records,
): Failure | null {
  if (plan === null) return null;
  const aloneOf = (worker: string): MethodRecord['verdict'] | null =>
    others.find(({ method }) => method === `worker:${worker}`)?.verdict ?? null;
  // Several solves are attempts, not reviews.
  const judged = outputs ?? (rounds > 1 && runs.length === 1 ? [[], []] : [[]]);
  return failureOf({
    rounds: judged.map((found, place) => ({
      plan: place === 0 ? plan : { steps: [] },
      outputs: found,
      answer: place < judged.length - 1 ? (found.at(-1) ?? null) : null,
    })),
    answer: verdict,
    pool: Object.fromEntries(workers.map((worker) => [worker, aloneOf(worker)])),
  });
}

type Score = (record: MethodRecord) => number | null;

/** Scores the answers that could be judged, and compares them; fields are null if none could. */
function judge(
  records: Records,
  others: { readonly reference: string; readonly references: Records } | null,
  score: Score,
) {
  const byQuestion = groupBy(records, ({ question }) => question);
  const tries = [...byQuestion.values()]
    .map((tried) => tried.flatMap((record) => score(record) ?? []))
    .filter(({ length }) => length > 0);
  const means = tries.map((scores) => meanOf(scores) ?? 0);
  const wasOnce = tries.every(({ length }) => length === 1);
  const resampled = wasOnce ? null : resampleMean(means);
  return {
    /** pass@1: the mean over questions of the share of right tries. */
    score: meanOf(means),
    /** Standard error over questions; null if each was tried once, since `interval` is enough then. */
    standardError: resampled?.standardError ?? null,
    interval: resampled ? clamp(resampled.interval, 0, 1) : shareInterval(means),
    comparison: others && compare(records, others.reference, others.references, score),
  };
}

/** Adjusts the p values of all comparisons together, except the primary one. */
function adjust(
  found: readonly ReturnType<typeof summarizeMethod>[],
  primary: string | undefined,
): MethodSummary[] {
  const compared = found.filter(({ method, comparison }) => comparison !== null && method !== primary);
  const ps = adjustByHolm(compared.map(({ comparison }) => comparison?.p ?? 1));
  const isOne = compared.length + Number(primary !== undefined) < 2;
  const adjusted = new Map(compared.map(({ method }, place) => [method, ps[place] ?? 1]));
  return found.map((each) => ({ ...each, adjustedP: isOne ? null : (adjusted.get(each.method) ?? null) }));
}

function strictScoreOf({ verdict }: MethodRecord): number {
  return Number(verdict === 'correct');
}

/** Scores an unparseable answer as wrong; an ungraded one counts neither way. */
function scoreOf({ verdict }: MethodRecord): number | null {
  if (verdict === 'ungraded') return null;
  return verdict === 'correct' ? 1 : 0;
}

/** Compares two methods try by try, grouping the tries of each question. */
function compare(own: Records, against: string, others: Records, score: Score = scoreOf): Comparison | null {
  const theirs = new Map(others.map((record) => [record.index, score(record)]));
  const tries = own.flatMap((record) => {
    const [one, two] = [score(record), theirs.get(record.index) ?? null];
    return one === null || two === null ? [] : [{ question: record.question, difference: one - two }];
  });
  const byQuestion = groupBy(tries, ({ question }) => question);
  const differences = [...byQuestion.values()].map((tried) => tried.map(({ difference }) => difference));
  return compareTries(against, differences);
}

/** Returns the mean extra cost over another method, question by question; null if a price is unknown. */
function compareCosts(own: Records, others: Records) {
  const theirs = new Map(others.map(({ index, spent }) => [index, spent.nanoUsd]));
  const gains = own.flatMap(({ index, spent }) => {
    const [one, two] = [spent.nanoUsd, theirs.get(index) ?? null];
    return one === null || two === null ? [] : [(one - two) / 1e9];
  });
  const usd = meanOf(gains);
  if (usd === null || gains.length < own.length) return null;
  return { usd, interval: meanInterval(gains) ?? ([usd, usd] as const) };
}

/** Counts how often a judge preferred its answer to the Conductor's; null if no judge was asked. */
function countPreferences(records: Records): Preferences | null {
  const outcomes = records.flatMap(({ preference }) => preference?.outcome ?? []);
  if (outcomes.length === 0) return null;
  const { won = 0, lost = 0, tied = 0, unjudged = 0 } = tally(outcomes);
  return { won, lost, tied, unjudged, p: signTest(won, lost) };
}

/** Whether a method asks one worker of the pool alone, in either form. */
export function isAlone(method: string, pool: readonly string[]): boolean {
  const [name, id = ''] = method.split(':');
  return name === 'worker' && pool.includes(id);
}

/** Returns the pool's worker with the highest score alone; the first one on a tie. */
export function bestWorker(
  summaries: readonly MethodSummary[],
  pool: readonly string[],
): MethodSummary | null {
  const alone = summaries.filter(({ method }) => isAlone(method, pool));
  return alone.toSorted((one, other) => (other.score ?? -1) - (one.score ?? -1))[0] ?? null;
}
