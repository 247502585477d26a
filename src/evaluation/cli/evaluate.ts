import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { sayResumed } from '../../cli/follow-run';
import { listenForInterruption } from '../../cli/interruption';
import { checkServed, isWorkedOnElsewhere } from '../../cli/queues';
import { type Session, withSession } from '../../cli/session';
import { loadServable, loadSettings, type WorkOptions } from '../../cli/load-settings';
import { columnsOf, print, say, toJson } from '../../cli/terminal';
import { configuredKeys } from '../../encryption/key-ring';
import { reasonOf } from '../../reason-of';
import { checkStore, openStore } from '../../store/open-store';
import { describeUsd } from '../../trace/describe';
import { wrap } from '../../trace/lines';
import type { Config } from '../../config/schema';
import { readResults } from '../activities/read-results';
import { resultsFolder } from '../store-keys';
import { drawCharts, type Picture } from '../report/page';
import { writeReport } from '../report/report';
import type { Manifest } from '../results';
import { summarize, type Summary } from '../summarize';
import { begin, type BeginOptions, checkConfiguration, keepPlan } from './begin';
import { findEvaluation } from './find-evaluation';
import { followEvaluation } from './follow';
import { chartsOf } from './pictures';
import { checkBudget, type PlanOptions, planForFile, planForLog } from './plan-evaluation';
import { findingsOf, reportOf } from './report';
import { shownTable, tableOf } from './table';

interface EvaluateOptions extends WorkOptions, PlanOptions, BeginOptions {
  readonly out?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
}

/** `eval`: tries methods on the questions of a file or of the log, and says which was right how often, at what cost. */
export async function evaluate(file: string | undefined, options: EvaluateOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { config, detach = false, allow, deny } = options;
  const loaded = await (detach ? loadSettings(options) : loadServable(options, { allow, deny }));
  await checkStore(loaded.store);
  const prepare = await prepareEvaluation(file, options, loaded);
  const place = detach
    ? ({ role: 'look', outliving: '--detach' } as const)
    : ({ role: 'work', servesCheckpoints: true } as const);
  return withSession(loaded, { file: config, trust: options.trust, ...place }, async (session) => {
    const manifest = await prepare(session);
    if (!detach) await sayResumed(session, config, manifest.id);
    const isUnderWay = await begin(session, manifest, options);
    if (detach) {
      await print(manifest.id);
      say(`Come back for its results with: ${comeBack(manifest.id, options)}`);
      await checkServed(session);
      return EXIT.answered;
    }
    const end = isUnderWay ? await followEvaluation(session, manifest, interruption) : NOTHING_LEFT;
    if (end === null) {
      const goesOn = await isWorkedOnElsewhere(session);
      const what = goesOn ? 'goes on; come back to it with' : 'is kept; go on with';
      say(`Evaluation ${manifest.id} ${what}: ${comeBack(manifest.id, options)}`);
      return EXIT.interrupted;
    }
    await showResults(session, manifest, options);
    if (end.stoppedBy === null) return EXIT.answered;
    say(
      `It was stopped by its budget after ${describeUsd(end.spentNanoUsd / 1e9)}. Go on with more, and pay for nothing ` +
        `twice: ${comeBack(manifest.id, options)} --max-cost USD`,
    );
    return EXIT.stopped;
  });
}

/** All of it was known already. */
const NOTHING_LEFT = { stoppedBy: null, spentNanoUsd: 0 } as const;

function comeBack(id: string, { config }: EvaluateOptions): string {
  return `temporal-conductor eval --resume ${id}${config === undefined ? '' : ` --config ${config}`}`;
}

/**
 * Finds the evaluation to go on with, or plans a new one: before a worker is started, unless the log is needed for it.
 *
 * @throws UsageError before anything is started
 */
async function prepareEvaluation(
  file: string | undefined,
  options: EvaluateOptions,
  config: Config,
): Promise<(session: Session) => Promise<Manifest>> {
  const { resume, fromTraces = false, detach = false } = options;
  if (resume !== undefined) {
    if (file !== undefined || fromTraces)
      throw new UsageError('--resume reuses the original questions; drop FILE and --from-traces');
    const store = openStore(config.store, process.cwd(), { keys: configuredKeys(config) });
    const manifest = await findEvaluation(store, resume);
    checkConfiguration(manifest, config, !detach);
    checkBudget(manifest, options);
    return () => Promise.resolve(manifest);
  }
  if (fromTraces)
    return async (session) => keepPlan(session.store, await planForLog(session, file, options), options);
  if (file === undefined) {
    throw new UsageError('which questions? Name a file, --from-traces, or an evaluation with --resume');
  }
  const plan = await planForFile(file, options, config);
  return ({ store }) => keepPlan(store, plan, options);
}

/** Prints the table, and writes all that was found into the folder. */
async function showResults({ store }: Session, manifest: Manifest, options: EvaluateOptions): Promise<void> {
  const records = await readResults(store, resultsFolder(manifest.id));
  const summary = summarize(manifest, records);
  const folder = options.out ?? manifest.id;
  await mkdir(folder, { recursive: true });
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(join(folder, 'results.jsonl'), lines.join(''));
  const pictures = await drawSummary(summary);
  await writeReport(reportOf(summary, pictures), folder);
  if (options.json === true) await print(toJson(summary));
  else await print(showSummary(summary, columnsOf(process.stdout)));
  const files = `Everything is in ${folder}: report.html, report.md, results.jsonl${pictures.length > 0 ? ', pictures' : ''}`;
  say(wrapAll([files], columnsOf(process.stderr)).join('\n'));
}

/** Renders the result. @param columns of the terminal; undefined: there is none */
export function showSummary(summary: Summary, columns: number | undefined): string {
  return [shownTable(tableOf(summary), columns), '', ...wrapAll(findingsOf(summary), columns)].join('\n');
}

function wrapAll(sentences: string[], columns: number | undefined): string[] {
  return columns === undefined ? sentences : sentences.flatMap((sentence) => wrap([sentence], columns));
}

/** No pictures if ECharts is not installed. */
async function drawSummary(summary: Summary): Promise<Picture[]> {
  try {
    return await drawCharts(chartsOf(summary));
  } catch (error) {
    say(`No pictures: ${reasonOf(error)}`);
    return [];
  }
}
