import { type Failure, failureOf } from './failure-kinds';
import { REFERENCE } from './methods/read-method';
import { MOST_ATTEMPTS } from './methods/samples';
import type { Manifest, MethodRecord, Preference, Spent } from './results';
import { unitOf } from './spent';
import { topologyOf } from '../plan/topology';
import {
  type Comparison,
  comparePairs,
  groupBy,
  type Interval,
  meanInterval,
  meanOf,
  percentile,
  shareInterval,
  sharesOf,
  signTest,
  sumCounts,
  sumOfAll,
  tally,
} from './statistics';

export interface MethodSummary {
  readonly method: string;
  readonly questions: number;
  readonly correct: number;
  /** Right answers of those that could be judged; null where none could. */
  readonly score: number | null;
  readonly interval: Interval | null;
  readonly unparseable: number;
  readonly ungraded: number;
  /** Against the Conductor, or the first method where that is not among them. */
  readonly comparison: Comparison | null;
  /** Saving against that other one, question by question; null for that one itself, and if a price is unknown. */
  readonly costGain: { readonly usd: number; readonly interval: Interval } | null;
  /** How often a judge preferred it to the Conductor, where no right answer is known; null where none was asked. */
  readonly preferences: Preferences | null;
  /** Means of a question, as are `tokens` and `calls`. */
  readonly usd: number | null;
  readonly tokens: number;
  readonly calls: number;
  /** Questions on which it made `MOST_ATTEMPTS`, though the Conductor's cost would have paid for more. */
  readonly capped: number;
  readonly steps: number | null;
  readonly latencyMs: { readonly median: number; readonly p95: number };
  readonly workerShares: Readonly<Record<string, number>>;
  /** First plans by what `topologyOf` calls their graph, and wrong answers by what `failureOf` says of them. */
  readonly topologies: Readonly<Record<string, number>>;
  readonly failures: Readonly<Record<string, number>>;
}

export interface Preferences extends Readonly<Record<Preference['outcome'], number>> {
  /** How often chance alone would prefer one of both as often as this: the sign test, two-sided. */
  readonly p: number;
}

type Evaluated = Pick<
  Manifest,
  'id' | 'file' | 'seed' | 'workers' | 'questions' | 'methods' | 'log' | 'learned'
>;

export interface Summary extends Pick<Manifest, 'id' | 'file' | 'seed' | 'workers' | 'log' | 'learned'> {
  readonly questions: number;
  /** Questions that every method was tried on: those that are compared. */
  readonly complete: number;
  readonly reference: string;
  readonly methods: readonly MethodSummary[];
  /** The Conductor against the worker that was best alone on these very questions; null where either is missing. */
  readonly againstBestWorker: Comparison | null;
  /** Cost of everything tried; null if a price is unknown. */
  readonly usd: number | null;
  /** Calls that are not in it: lost in crashes and time-outs. */
  readonly lost: number;
}

/** Sums up what was found, on the questions that every method was tried on. */
export function summarize(manifest: Evaluated, records: readonly MethodRecord[]): Summary {
  const { id, file, seed, workers, questions, methods, log, learned } = manifest;
  const byQuestion = groupBy(records, ({ index }) => index);
  const whole = [...byQuestion.values()].filter((found) => found.length === methods.length);
  const byMethod = groupBy(whole.flat(), ({ method }) => method);
  const of = (method: string): readonly MethodRecord[] => byMethod.get(method) ?? [];
  const reference = methods.includes(REFERENCE) ? REFERENCE : (methods[0] ?? '');
  const summaries = methods.map((method) => ({
    ...summarizeMethod(method, of(method)),
    failures: tally(
      of(method).flatMap((record) => failureIn(record, workers, byQuestion.get(record.index) ?? []) ?? []),
    ),
    comparison: method === reference ? null : compare(of(method), reference, of(reference)),
    costGain: method === reference ? null : compareCosts(of(method), of(reference)),
    preferences: countPreferences(of(method)),
    capped: /^(?:best-of|vote):/.test(method) ? countCapped(of(method), of(REFERENCE)) : 0,
  }));
  // Leaves out the log, which was paid before.
  const paid = log === undefined ? records : records.filter(({ method }) => method !== REFERENCE);
  const best = bestWorker(summaries);
  return {
    id,
    file,
    seed,
    workers,
    ...(log && { log }),
    questions,
    complete: whole.length,
    reference,
    methods: summaries,
    againstBestWorker:
      best === null || reference !== REFERENCE ? null : compare(of(REFERENCE), best, of(best)),
    usd: totalUsd([...paid.map(({ spent }) => spent), ...records.flatMap(({ judging }) => judging ?? [])]),
    lost: records.reduce((sum, record) => sum + record.lost, 0),
    ...(learned && { learned }),
  };
}

function summarizeMethod(
  method: string,
  records: readonly MethodRecord[],
): Omit<MethodSummary, 'comparison' | 'costGain' | 'preferences' | 'failures' | 'capped'> {
  const scores = records.flatMap((record) => scoreOf(record) ?? []);
  const { correct = 0, unparseable = 0, ungraded = 0 } = tally(records.map(({ verdict }) => verdict));
  const latencies = records.map(({ latencyMs }) => latencyMs);
  const mean = (valueOf: (record: MethodRecord) => number): number => meanOf(records.map(valueOf)) ?? 0;
  const usd = totalUsd(records.map(({ spent }) => spent));
  return {
    method,
    questions: records.length,
    correct,
    score: meanOf(scores),
    interval: shareInterval(scores),
    unparseable,
    ungraded,
    usd: usd === null || records.length === 0 ? null : usd / records.length,
    tokens: mean(({ spent }) => spent.inputTokens + spent.outputTokens),
    calls: mean(({ spent }) => spent.calls),
    steps: meanOf(records.flatMap(({ plan }) => (plan === null ? [] : [plan.steps.length]))),
    latencyMs: { median: percentile(latencies, 0.5) ?? 0, p95: percentile(latencies, 0.95) ?? 0 },
    workerShares: sharesOf(sumCounts(records.map(({ workers }) => workers))),
    topologies: tally(records.flatMap(({ plan }) => (plan === null ? [] : (topologyOf(plan) ?? [])))),
  };
}

/** More attempts would have fitted where as much again as one of them cost was left. */
function countCapped(own: readonly MethodRecord[], others: readonly MethodRecord[]): number {
  const paid = new Map(others.map(({ index, spent }) => [index, spent]));
  return own.filter(({ index, spent }) => {
    const most = paid.get(index);
    if (most === undefined || spent.calls < MOST_ATTEMPTS) return false;
    const measure = unitOf(most);
    return measure(spent) * (1 + 1 / spent.calls) <= measure(most);
  }).length;
}

/** Finds what went wrong. The others' records of the question say what workers know alone, if they were tried. */
function failureIn(
  { plan, runs, rounds, outputs, verdict }: MethodRecord,
  workers: readonly string[],
  others: readonly MethodRecord[],
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

/** An answer that settles on nothing is not right; what could not be judged counts neither way. */
function scoreOf({ verdict }: MethodRecord): number | null {
  if (verdict === 'ungraded') return null;
  return verdict === 'correct' ? 1 : 0;
}

function compare(
  own: readonly MethodRecord[],
  against: string,
  others: readonly MethodRecord[],
): Comparison | null {
  return comparePairs(against, pairsOf(own, others, scoreOf));
}

/** A figure of both on each question on which it is known of both. */
function pairsOf(
  own: readonly MethodRecord[],
  others: readonly MethodRecord[],
  figureOf: (record: MethodRecord) => number | null,
): (readonly [number, number])[] {
  const other = new Map(others.map((record) => [record.index, figureOf(record)]));
  return own.flatMap((record): (readonly [number, number])[] => {
    const [one, two] = [figureOf(record), other.get(record.index) ?? null];
    return one === null || two === null ? [] : [[one, two]];
  });
}

function compareCosts(
  own: readonly MethodRecord[],
  others: readonly MethodRecord[],
): MethodSummary['costGain'] {
  const gains = pairsOf(own, others, ({ spent }) => spent.nanoUsd).map(([one, two]) => (one - two) / 1e9);
  const usd = meanOf(gains);
  if (usd === null || gains.length < own.length) return null;
  return { usd, interval: meanInterval(gains) ?? [usd, usd] };
}

function countPreferences(records: readonly MethodRecord[]): Preferences | null {
  const outcomes = records.flatMap(({ preference }) => preference?.outcome ?? []);
  if (outcomes.length === 0) return null;
  const { won = 0, lost = 0, tied = 0, unjudged = 0 } = tally(outcomes);
  return { won, lost, tied, unjudged, p: signTest(won, lost) };
}

/** The worker with the highest score alone; of equals the first. */
export function bestWorker(summaries: readonly Pick<MethodSummary, 'method' | 'score'>[]): string | null {
  const alone = summaries.filter(({ method }) => method.startsWith('worker:'));
  const [best] = alone.toSorted((one, other) => (other.score ?? -1) - (one.score ?? -1));
  return best?.method ?? null;
}

function totalUsd(spent: readonly Spent[]): number | null {
  const nanoUsd = sumOfAll(spent.map((each) => each.nanoUsd));
  return nanoUsd === null ? null : nanoUsd / 1e9;
}
