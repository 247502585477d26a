import { EXIT, type ExitCode } from '../../cli/ending';
import { UsageError } from '../../errors';
import { loadSettings, type WorkOptions } from '../../cli/load-settings';
import { columnsOf, print, say, toJson } from '../../cli/terminal';
import { checkStore, configuredStore } from '../../store/open-store';
import type { Store } from '../../store/store';
import { readResults } from '../activities/kept';
import { compareEvaluations, type Evaluated, tableOfChanges } from '../report/compare-evaluations';
import { showTable } from '../report/describe-summary';
import { readQuestions } from '../report/details';
import { findEvaluation } from './earlier';

/** Runs `eval --compare ID1 ID2`: shows what changed on the questions of both evaluations; calls no model. */
export async function compareKept(
  ids: readonly string[],
  options: WorkOptions & { readonly json?: boolean },
): Promise<ExitCode> {
  const [one, two, ...more] = ids;
  if (one === undefined || two === undefined || more.length > 0)
    throw new UsageError(`--compare takes two evaluations, and ${ids.length} are named: --compare ID1 ID2`);
  const config = await loadSettings(options);
  await checkStore(config.store);
  const store = configuredStore(config);
  const [before, after] = [await read(store, one), await read(store, two)];
  const changes = compareEvaluations(before, after);
  if (changes.length === 0) {
    throw new UsageError(
      `evaluations ${before.manifest.id} and ${after.manifest.id} share no method on a question that was judged in both: ` +
        'evaluate the same file with the same methods',
    );
  }
  const table = tableOfChanges(before.manifest.id, after.manifest.id, changes);
  await print(
    options.json === true ? toJson(changes) : showTable(table, columnsOf(process.stdout) ?? Infinity),
  );
  say('Difference: the second less the first, on the questions that both judged.');
  return EXIT.answered;
}

async function read(store: Store, id: string): Promise<Evaluated> {
  const manifest = await findEvaluation(store, id);
  const records = await readResults(store, manifest.id);
  return { manifest, records, questions: await readQuestions(store, manifest) };
}
