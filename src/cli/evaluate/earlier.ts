import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../../errors';
import { say } from '../kit/terminal';
import { someOf } from '../../config/errors';
import type { ResolvedRun, RunWorker } from '../../protocol/cards';
import type { Store } from '../../store/store';
import {
  readEvaluation,
  readEvaluationManifest,
  readEvaluationManifests,
  readResults,
} from '../../evaluation/report';
import {
  bestWorker,
  type EvaluatedQuestion,
  type GradedExample,
  isOfAnyWorker,
  type Learned,
  learnRouting,
  type EvaluationManifest,
  nameWorker,
  summarize,
} from '../../evaluation/definitions';
import { normalizeQuestion } from '../../evaluation/data';
import { percentile, sumOfAll } from '../../statistics/statistics';
import { groupBy } from '../../statistics/tally';

/** Finds an evaluation by its id, a unique prefix of it, or `last`. @throws UsageError unless exactly one matches */
export async function findEvaluation(store: Store, given: string): Promise<EvaluationManifest> {
  const exact = await readEvaluationManifest(store, given);
  if (exact !== null) return exact;
  const all = await readEvaluationManifests(store);
  const [found, ...others] =
    given === 'last' ? all.slice(0, 1) : all.filter(({ id }) => id.startsWith(given));
  if (found === undefined) {
    const what = given === 'last' ? 'no evaluation yet' : `no evaluation ${JSON.stringify(given)}`;
    throw new UsageError(`the store ${store.url} has ${what}: check the id and the folder`);
  }
  if (others.length > 0) {
    const ids = [found, ...others].map(({ id }) => id);
    throw new UsageError(
      `${JSON.stringify(given)} matches more than one evaluation; use a longer prefix: ${someOf(ids)}`,
    );
  }
  say(`Evaluation ${found.id}`);
  return found;
}

/** Returns the best worker alone, as a method: the only one, or by the latest evaluation of all. @throws UsageError if none */
export async function requireBestWorker(store: Store, run: ResolvedRun): Promise<string> {
  const best = await findBestWorker(store, run);
  if (best !== null) return best;
  const ids = run.workers.map(({ id }) => `worker:${id}`).join(', ');
  throw new UsageError(
    `the best worker is unknown: no evaluation here tried all of them. Name it with --methods (${ids}), use ` +
      '--methods workers, or run "temporal-conductor eval FILE --methods workers" first',
  );
}

async function findBestWorker(store: Store, { workers }: ResolvedRun): Promise<string | null> {
  const [only, ...others] = workers;
  if (only !== undefined && others.length === 0) {
    say(`worker:${only.id} stands for the best worker: it is the only one.`);
    return `worker:${only.id}`;
  }
  const pool = workers.map(({ id }) => id);
  const earlier = (await readEvaluationManifests(store)).filter(({ methods, log, run }) => {
    const triedAll = workers.every(({ id }) => methods.includes(`worker:${id}`));
    return log === undefined && triedAll && workers.every((worker) => isSameWorker(worker, run.workers));
  });
  for (const manifest of earlier) {
    const { methods, complete } = summarize(manifest, await readResults(store, manifest.id));
    const { method: best = '', score = null } = bestWorker(methods, pool) ?? {};
    if (score === null) continue;
    say(`${best} was the best worker of ${manifest.id}: ${score.toFixed(3)} on ${complete} questions.`);
    return best;
  }
  return null;
}

/**
 * Replaces `:best` in methods by the best worker of an earlier evaluation, in the form in which it was best. Methods
 * without a worker also get it if it is known. @throws UsageError if `:best` is not known
 */
export async function nameBest(store: Store, run: ResolvedRun, names: readonly string[]): Promise<string[]> {
  const isNamed = run.workers.some(({ id }) => id === 'best');
  const asks = (name: string): boolean => !isNamed && /^[^:]+:best(:|$)/.test(name);
  const isOpen = (name: string): boolean => asks(name) || isOfAnyWorker(name);
  if (!names.some(isOpen)) return [...names];
  const found = names.some(asks) ? await requireBestWorker(store, run) : await findBestWorker(store, run);
  if (found === null) {
    const open = names.filter(isOfAnyWorker).join(', ');
    say(
      `${open}: the first worker, ${run.workers[0]?.id}, since no evaluation here shows which one is the best. ` +
        'Run "eval FILE --methods workers" to find out.',
    );
    return [...names];
  }
  return names.map((name) => (isOpen(name) ? nameWorker(name, found) : name));
}

/** Returns a worker's median seconds alone, in the latest evaluation that used its settings; null if none did. */
export async function secondsAlone(store: Store, worker: RunWorker): Promise<number | null> {
  const method = `worker:${worker.id}`;
  for (const { id, methods, run } of await readEvaluationManifests(store)) {
    if (!methods.includes(method) || !isSameWorker(worker, run.workers)) continue;
    const own = (await readResults(store, id)).filter((record) => record.method === method);
    const median = percentile(
      own.map(({ latencyMs }) => latencyMs),
      0.5,
    );
    if (median !== null) return median / 1000;
  }
  return null;
}

/** Whether a worker has the same model and settings as the earlier one with its id. */
function isSameWorker(worker: RunWorker, before: readonly RunWorker[]): boolean {
  const earlier = before.find(({ id }) => id === worker.id);
  return earlier !== undefined && isDeepStrictEqual(decidingSettings(earlier), decidingSettings(worker));
}

const DECIDING = [
  ...(['provider', 'model', 'layout', 'instructions', 'temperature', 'topP', 'topK'] as const),
  ...(['presencePenalty', 'effort', 'thinking', 'maxOutputTokens', 'extraBody'] as const),
];

function decidingSettings(worker: RunWorker): readonly unknown[] {
  return worker.kind === 'model' ? DECIDING.map((name) => worker[name]) : [worker.type];
}

/** Refuses `learned-router` without `--learn-from`, and `--learn-from` without `learned-router`. */
export function checkLearning(methods: readonly string[], from: string | undefined): void {
  const learns = methods.includes('learned-router');
  if (learns && from === undefined) {
    throw new UsageError(
      'method learned-router learns from an earlier evaluation of single workers, but none is given: ' +
        'run "eval OTHER-QUESTIONS --methods workers", and pass its id to --learn-from',
    );
  }
  if (!learns && from !== undefined)
    throw new UsageError('nothing learns from --learn-from: add learned-router to --methods');
}

/**
 * Chooses the worker that answers each question, from an earlier evaluation's results of workers alone; leaves out
 * questions that are asked again now. @throws UsageError if a worker has no results there
 */
export async function routeQuestions(
  store: Store,
  given: string,
  questions: readonly EvaluatedQuestion[],
  workers: readonly string[],
): Promise<{ readonly questions: EvaluatedQuestion[]; readonly learned: Learned }> {
  const {
    manifest,
    records,
    questions: earlier,
  } = await readEvaluation(store, await findEvaluation(store, given));
  const { id: from } = manifest;
  const alone = new Map(workers.map((worker) => [`worker:${worker}`, worker]));
  const told = records.filter(({ method, verdict }) => alone.has(method) && verdict !== 'ungraded');
  const tried = [...groupBy(told, ({ index }) => index)].map(([index, results]) => ({
    text: earlier[index]?.question ?? '',
    isRight: Object.fromEntries(
      results.map(({ method, verdict }) => [alone.get(method), verdict === 'correct']),
    ) as GradedExample['isRight'],
    costs: results.map(({ spent }) => spent.nanoUsd),
  }));
  const asked = new Set(questions.map(({ question }) => normalizeQuestion(question)));
  const fresh = tried.filter(({ text }) => !asked.has(normalizeQuestion(text)));
  const repeated = tried.length - fresh.length;
  const untold = workers.filter((id) => fresh.every(({ isRight }) => isRight[id] === undefined));
  if (untold.length > 0) {
    throw new UsageError(
      `evaluation ${from} has no results of ${untold.join(', ')} as single workers on questions that are not asked now ` +
        `(of ${tried.length}, ${repeated} are): run --methods workers on other questions`,
    );
  }
  const choose = learnRouting(workers, fresh);
  const costs = fresh.flatMap((question) => question.costs);
  return {
    questions: questions.map((question) => ({ ...question, routed: choose(question.question) })),
    learned: { from, questions: fresh.length, answers: costs.length, repeated, nanoUsd: sumOfAll(costs) },
  };
}
