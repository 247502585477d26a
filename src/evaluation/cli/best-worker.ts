import { UsageError } from '../../cli/exit-code';
import { say } from '../../cli/terminal';
import type { ResolvedRun, RunWorker } from '../../protocol/run';
import type { Store } from '../../store/store';
import { readResults } from '../activities/read-results';
import { resultsFolder } from '../keys';
import { bestWorker, summarize } from '../summarize';
import { evaluationsIn } from './find-evaluation';

/**
 * The method of the worker that was best alone in the latest evaluation that tried all of the pool alone.
 *
 * @throws UsageError that says which choice there is, where none did
 */
export async function findBestWorker(store: Store, { workers }: ResolvedRun): Promise<string> {
  const earlier = (await evaluationsIn(store)).filter(({ methods, log, run }) => {
    const triedAll = workers.every(({ id }) => methods.includes(`worker:${id}`));
    return log === undefined && triedAll && workers.every((worker) => isSame(worker, run.workers));
  });
  for (const manifest of earlier) {
    const { methods, complete } = summarize(manifest, await readResults(store, resultsFolder(manifest.id)));
    const best = bestWorker(methods.filter(({ score }) => score !== null));
    const score = methods.find(({ method }) => method === best)?.score ?? null;
    if (best === null || score === null) continue;
    say(`${best} was the best worker alone in ${manifest.id}: ${score.toFixed(3)} on ${complete} questions.`);
    return best;
  }
  const ids = workers.map(({ id }) => `worker:${id}`).join(', ');
  throw new UsageError(
    `which worker is the best one alone? No evaluation here tried all of them: name it with --methods (${ids}), take all ` +
      'with --methods workers, or find it by "temporal-conductor eval FILE --methods workers"',
  );
}

/** Another model under the same id is another worker. */
function isSame(worker: RunWorker, before: readonly RunWorker[]): boolean {
  const nameOf = (each: RunWorker | undefined): string | undefined =>
    each?.kind === 'model' ? `${each.provider} ${each.model}` : each?.type;
  return nameOf(before.find(({ id }) => id === worker.id)) === nameOf(worker);
}
