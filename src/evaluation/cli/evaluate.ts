import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { EXIT, type ExitCode, listenForInterruption, UsageError } from '../../cli/ending';
import { commandOf, sayResumed } from '../../cli/follow-run';
import { checkServed } from '../../cli/queues';
import { type Session, withSession } from '../../cli/session';
import { loadServable, loadSettings, storeOf, type WorkOptions } from '../../cli/load-settings';
import { columnsOf, print, say, toJson } from '../../cli/terminal';
import { follow, lookAgain, openView } from '../../cli/view/follow';
import { reasonOf } from '../../errors';
import { checkStore } from '../../store/open-store';
import { describeAge, describeUsd, joinFacts } from '../../trace/describe';
import { wrap, wrapFacts } from '../../trace/lines';
import type { Config } from '../../config/schema';
import { readResults } from '../activities';
import { type EvaluationProgress, PROGRESS_QUERY, resultsFolder } from '../contract';
import { drawCharts, type Picture } from '../report/page';
import { writeReport } from '../report/report';
import type { Manifest } from '../results';
import { summarize, type Summary } from '../summarize';
import { begin, type BeginOptions, checkConfiguration, keepPlan } from './begin';
import { findEvaluation } from './earlier';
import { checkBudget, type PlanOptions, planForFile, planForLog } from './plan-evaluation';
import { chartsOf, findingsOf, reportOf } from './report';
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
    if (!detach) await sayResumed(session, manifest.id);
    const isUnderWay = await begin(session, manifest, options);
    if (detach) {
      await print(manifest.id);
      say(`Come back for its results with: ${comeBack(manifest.id, options)}`);
      await checkServed(session);
      return EXIT.answered;
    }
    const end = isUnderWay ? await followEvaluation(session, manifest, interruption) : NOTHING_LEFT;
    if (end === null) {
      say(`Evaluation ${manifest.id} is kept; go on with: ${comeBack(manifest.id, options)}`);
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
  return commandOf(`eval --resume ${id}`, config);
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
    const store = storeOf(config);
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
  say(
    `Everything is in ${folder}: report.html, report.md, results.jsonl${pictures.length > 0 ? ', pictures' : ''}`,
  );
}

/** Renders the result. @param columns of the terminal; undefined: there is none */
export function showSummary(summary: Summary, columns: number | undefined): string {
  const findings = findingsOf(summary);
  const lines = columns === undefined ? findings : findings.flatMap((finding) => wrap([finding], columns));
  return [shownTable(tableOf(summary), columns), '', ...lines].join('\n');
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

/** Shows an evaluation on stderr until it has ended; null after Ctrl-C. @throws Error for one that failed */
async function followEvaluation(
  session: Session,
  manifest: Manifest,
  interruption: AbortSignal,
): Promise<EvaluationProgress | null> {
  const view = openView<EvaluationProgress>(process.stderr, {
    draw: (progress, { now, columns }) => wrapFacts(describeProgress(manifest, progress, now), columns),
    tell: (before, after) =>
      before?.done === after.done ? [] : [joinFacts(...describeProgress(manifest, after, Date.now()))],
  });
  const states = progressOf(session.temporal.workflow.getHandle(manifest.id));
  return (await follow(session, manifest.id, interruption, { states, view })) ?? null;
}

/** Looks at an evaluation again and again, and at last at its result. */
async function* progressOf(handle: WorkflowHandle): AsyncGenerator<EvaluationProgress> {
  yield* lookAgain(async () => {
    if ((await handle.describe()).status.name !== 'RUNNING') return null;
    // Between two workers, none may answer.
    return handle.query<EvaluationProgress>(PROGRESS_QUERY).catch(() => undefined);
  });
  yield (await handle.result()) as EvaluationProgress;
}

/** `12 of 100 questions`, `$0.12`, `about 3 min left`, `conductor 0.83`, `worker:gpt 0.71` */
export function describeProgress(
  { questions, methods }: Pick<Manifest, 'questions' | 'methods'>,
  { done, spentNanoUsd, startedAt, scores }: EvaluationProgress,
  now: number,
): readonly string[] {
  const left = done === 0 ? null : ((now - startedAt) / done) * (questions - done);
  const shown = methods.flatMap((method, place) => {
    const { correct, graded } = scores[place] ?? { correct: 0, graded: 0 };
    return graded === 0 ? [] : [`${method} ${(correct / graded).toFixed(2)}`];
  });
  return [
    `${done} of ${questions} questions`,
    describeUsd(spentNanoUsd / 1e9),
    ...(left !== null && done < questions ? [`about ${describeAge(left)} left`] : []),
    ...shown,
  ];
}
