import { UsageError } from '../../cli/exit-code';
import type { Store } from '../../store/store';
import { QuestionSets } from '../activities/question-sets';
import { readResults } from '../activities/read-results';
import type { EvaluatedQuestion } from '../contract';
import { normalizeQuestion } from '../data/question-index';
import { resultsFolder } from '../store-keys';
import { learnRouting, type GradedExample } from '../methods/learned-router';
import type { Learned, Manifest } from '../results';
import { groupBy, sumOfAll } from '../statistics';
import { findEvaluation } from './find-evaluation';

/** Refuses a router that has nothing to learn from, and something to learn from that no method asks for. */
export function checkLearning(methods: readonly string[], from: string | undefined): void {
  const learns = methods.includes('learned-router');
  if (learns && from === undefined) {
    throw new UsageError(
      'method learned-router learns from an earlier evaluation of the workers alone, and none is named: ' +
        'make one with "eval OTHER-QUESTIONS --methods workers", and give its id to --learn-from',
    );
  }
  if (!learns && from !== undefined)
    throw new UsageError('nothing learns from --learn-from: add learned-router to --methods');
}

/**
 * Chooses the worker that answers each question, by what an earlier evaluation found of the workers alone. Questions that
 * are asked again now are not learned from.
 *
 * @throws UsageError where there is no such evaluation, or it tells too little
 */
export async function routeQuestions(
  store: Store,
  given: string,
  {
    questions,
    workers,
  }: { readonly questions: readonly EvaluatedQuestion[]; readonly workers: readonly string[] },
): Promise<{ readonly questions: EvaluatedQuestion[]; readonly learned: Learned }> {
  const manifest = await findEvaluation(store, given);
  const from = manifest.id;
  const asked = new Set(questions.map(({ question }) => normalizeQuestion(question)));
  const tried = await findTried(store, manifest, workers);
  const fresh = tried.filter(({ text }) => !asked.has(normalizeQuestion(text)));
  const untold = workers.filter((id) => fresh.every(({ isRight }) => isRight[id] === undefined));
  if (untold.length > 0) {
    throw new UsageError(
      `evaluation ${from} tells nothing about ${untold.join(', ')} alone on questions that are not asked now ` +
        `(of ${tried.length}, ${tried.length - fresh.length} are): let it try --methods workers on other questions`,
    );
  }
  const choose = learnRouting(workers, fresh);
  const costs = fresh.flatMap(({ nanoUsd }) => nanoUsd);
  return {
    questions: questions.map((question) => ({ ...question, routed: choose(question.question) })),
    learned: {
      from,
      questions: fresh.length,
      answers: costs.length,
      repeated: tried.length - fresh.length,
      nanoUsd: sumOfAll(costs),
    },
  };
}

/** A question of the earlier evaluation that workers answered alone, and what their answers cost. */
interface TriedQuestion extends GradedExample {
  readonly nanoUsd: readonly (number | null)[];
}

async function findTried(
  store: Store,
  { id, set }: Manifest,
  workers: readonly string[],
): Promise<TriedQuestion[]> {
  const sets = new QuestionSets(store);
  const alone = new Set(workers.map((worker) => `worker:${worker}`));
  const results = await readResults(store, resultsFolder(id));
  const told = results.filter(({ method, verdict }) => alone.has(method) && verdict !== 'ungraded');
  return Promise.all(
    [...groupBy(told, (record) => record.index)].map(async ([index, records]) => ({
      text: (await sets.read({ set, index })).question,
      isRight: Object.fromEntries(
        records.map(({ method, verdict }) => [method.slice('worker:'.length), verdict === 'correct']),
      ),
      nanoUsd: records.map(({ spent }) => spent.nanoUsd),
    })),
  );
}
