import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkRun } from '../../activities';
import { EXIT, type ExitCode, listenForInterruption } from '../kit/ending';
import { sayResumed } from '../kit/view/follow-run';
import { checkServed, commandOf } from '../kit/queues';
import { type Session, withSession } from '../kit/session';
import { loadServable, loadSettings, type WorkOptions } from '../kit/load-settings';
import { columnsOf, print, say, toJson } from '../kit/terminal';
import { follow, lookAgain, openView } from '../kit/view/follow';
import { describeRun } from '../../client';
import { checkApiKey, modelCardsOf } from '../../config/api-keys';
import { FREE_TOKENS } from '../../config/resolve-run';
import type { Config } from '../../config/schema';
import { reasonOf, UsageError } from '../../errors';
import { checkStore, configuredStore } from '../../store/open-store';
import { counted, describeAge, describeUsd, joinFacts } from '../../trace/describe';
import { wrapFacts } from '../../trace/lines';
import { createPolicyProvider } from '../../training/client';
import {
  asksForFree,
  chartsOf,
  compareEvaluations,
  detailsOf,
  readEvaluation,
  readResults,
  reportOf,
  showSummary,
  showTable,
  tableOfChanges,
  writeInspectLogs,
} from '../../evaluation/report';
import { drawCharts } from '../../report/chart';
import { writeReport } from '../../report/report';
import {
  checkCondition,
  EVALUATE_WORKFLOW,
  type EvaluateInput,
  EVALUATION_PRIORITY,
  type EvaluationProgress,
  type EvaluationManifest,
  modelsBeside,
  EVALUATION_PROGRESS_QUERY,
  readCondition,
  summarize,
  type Summary,
} from '../../evaluation/definitions';
import { findEvaluation } from './earlier';
import {
  checkBudget,
  type FileQuestions,
  type KnownAnswers,
  type PlanOptions,
  planForFile,
  planForLog,
  readFileQuestions,
  readKnown,
} from './plan-evaluation';

interface EvaluateOptions extends WorkOptions, PlanOptions {
  readonly window: number;
  readonly resume?: string;
  readonly compare?: readonly string[];
  readonly out?: string;
  readonly json?: boolean;
  readonly inspect?: boolean;
}

/** Runs `eval`: tries methods on the questions of a file or of the log, and reports their scores and costs. */
export async function evaluate(file: string | undefined, options: EvaluateOptions): Promise<ExitCode> {
  if (options.compare !== undefined) return compareKept(options.compare, options);
  const interruption = listenForInterruption();
  const { config, detach = false, allow, deny } = options;
  // First, so that no key is asked for, and no model fetched, for questions that cannot be read.
  const asked = await readAsked(file, options);
  const loaded = await (detach ? loadSettings(options) : loadServable(options, { pool: { allow, deny } }));
  await checkStore(loaded.store);
  const prepare = await prepareEvaluation(asked, options, loaded);
  const place = detach
    ? ({ role: 'look', outliving: '--detach' } as const)
    : ({ role: 'work', servesCheckpoints: true } as const);
  return withSession(loaded, options, place, async (session) => {
    const manifest = await prepare(session);
    const comeBack = commandOf(`eval --resume ${manifest.id}`, config);
    if (!detach) await sayResumed(session, manifest.id);
    const isUnderWay = await begin(session, manifest, options);
    if (detach) {
      await print(manifest.id, { remedy: `come back for its results with: ${comeBack}` });
      say(`Come back for its results with: ${comeBack}`);
      await checkServed(session);
      return EXIT.answered;
    }
    const end = isUnderWay ? await followEvaluation(session, manifest, interruption) : undefined;
    if (end === null) {
      say(`Evaluation ${manifest.id} is kept; go on with: ${comeBack}`);
      return EXIT.interrupted;
    }
    const summary = await showResults(session, manifest, options);
    if (end === undefined || end.stoppedBy === null) return judge(summary, options);
    say(
      `It was stopped by its budget after ${describeUsd(end.spentNanoUsd / 1e9)}. Go on with a new budget, and pay for ` +
        `nothing twice: ${comeBack} --max-cost USD`,
    );
    return EXIT.stopped;
  });
}

/** @throws UsageError for a condition on a method that was not tried */
function judge(summary: Summary, { failIf }: EvaluateOptions): ExitCode {
  if (failIf === undefined) return EXIT.answered;
  const methods = summary.methods.map(({ method }) => method);
  const condition = readCondition(failIf, { methods, workers: summary.workers });
  const { holds, sentence } = checkCondition(condition, summary);
  say(sentence);
  return holds ? EXIT.failed : EXIT.answered;
}

/** Source of the questions: an earlier evaluation, a file, or logged solves, perhaps with a file of right answers. */
type Asked =
  { readonly resume: string } | { readonly fromFile: FileQuestions } | { readonly known: KnownAnswers };

async function readAsked(file: string | undefined, options: EvaluateOptions): Promise<Asked> {
  const { resume, fromTraces = false } = options;
  if (resume !== undefined) {
    if (file !== undefined || fromTraces)
      throw new UsageError('--resume reuses the original questions; drop FILE and --from-traces');
    return { resume };
  }
  if (fromTraces) return { known: await readKnown(file, options) };
  if (file === undefined) {
    throw new UsageError('no questions: name a file, --from-traces, or an evaluation with --resume');
  }
  return { fromFile: await readFileQuestions(file, options) };
}

/** Finds the evaluation to resume, or plans a new one; before a worker starts, unless it needs the log. */
async function prepareEvaluation(
  asked: Asked,
  options: EvaluateOptions,
  config: Config,
): Promise<(session: Session) => Promise<EvaluationManifest>> {
  if ('resume' in asked) {
    const manifest = await findEvaluation(configuredStore(config), asked.resume);
    checkConfiguration(manifest, config, options.detach !== true);
    checkBudget(manifest, options);
    return () => Promise.resolve(manifest);
  }
  if ('known' in asked)
    return async (session) => (await planForLog(session, options, asked.known))(session.store);
  const keep = await planForFile(asked.fromFile, options, config);
  return ({ store }) => keep(store);
}

/** Checks that an evaluation can resume with its own models. @param makesCalls whether this process calls them */
function checkConfiguration(manifest: EvaluationManifest, config: Config, makesCalls: boolean): void {
  const { id, run } = manifest;
  try {
    checkRun({ config }, run);
    const cards = [...modelCardsOf(run), ...modelsBeside(manifest).map(([, card]) => card)];
    for (const card of makesCalls ? cards : []) checkApiKey(card, config);
  } catch (error) {
    throw new UsageError(
      `this configuration cannot resume evaluation ${id}: ${reasonOf(error)}. ` +
        'Pass the original configuration with --config, or start a new evaluation',
    );
  }
  say(`Evaluation ${id} goes on with its original models and limits.`);
}

/** Starts or resumes an evaluation, unless it is running. Returns false if nothing is left to do. */
async function begin(
  session: Session,
  manifest: EvaluationManifest,
  { resume, maxCost, window }: EvaluateOptions,
): Promise<boolean> {
  const { temporal, config, store } = session;
  const { id, methods, workers, seed, set, questions, file } = manifest;
  const known = await readResults(store, id);
  if (known.length === methods.length * questions) return false;
  if (resume !== undefined) {
    if (await isRunning(session, id)) return true;
    if (maxCost === undefined) {
      throw new UsageError(
        `evaluation ${id} stopped early; set a budget for the rest with --max-cost USD, or --max-cost none`,
      );
    }
  }
  const nanoUsd = typeof maxCost === 'number' ? Math.round(maxCost * 1e9) : null;
  const { run, conductors, baselines, verifier, compares } = manifest;
  const models = { run, conductors, baselines, verifier, compares };
  const planned = { id, methods, workers, seed, set, questions, ...models };
  const input: EvaluateInput = { ...planned, window, runNanoUsd: run.limits.nanoUsd, nanoUsd };
  await temporal.workflow.start(EVALUATE_WORKFLOW, {
    workflowId: id,
    taskQueue: config.temporal.taskQueue,
    args: [input],
    priority: { priorityKey: EVALUATION_PRIORITY },
    staticSummary: `${counted(questions, 'question')} of ${file}, ${counted(methods.length, 'method')}`,
  });
  return true;
}

async function isRunning({ temporal }: Session, id: string): Promise<boolean> {
  return (await describeRun(temporal, id))?.status.name === 'RUNNING';
}

/** Prints the results and writes them to a folder; without charts if ECharts is not installed. */
async function showResults(
  { store }: Session,
  manifest: EvaluationManifest,
  options: EvaluateOptions,
): Promise<Summary> {
  const evaluation = await readEvaluation(store, manifest);
  const { records } = evaluation;
  const summary = summarize(manifest, records);
  const folder = options.out ?? manifest.id;
  const again = commandOf(`eval --resume ${manifest.id}`, options.config);
  const pictures = await drawCharts(chartsOf(summary)).catch((error: unknown) => {
    say(`No pictures: ${reasonOf(error)}; then draw them with: ${again}`);
    return [];
  });
  const details = await detailsOf(store, evaluation, summary, createPolicyProvider(store));
  await writeReport(reportOf(summary, pictures, details), folder);
  if (options.inspect === true) {
    const logs = await writeInspectLogs(store, evaluation, summary, folder);
    say(`Logs for Inspect: inspect view --log-dir ${logs}`);
  }
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(join(folder, 'results.jsonl'), lines.join(''));
  const shown = options.json === true ? toJson(summary) : showSummary(summary, columnsOf(process.stdout));
  await print(shown, {
    remedy: `what was found is kept; see it with: ${again}`,
  });
  if (asksForFree(manifest.methods, manifest)) say(FREE_TOKENS);
  say(
    `Everything is in ${folder}: report.html, report.md, results.jsonl${pictures.length > 0 ? ', pictures' : ''}`,
  );
  return summary;
}

/** Shows the progress on stderr until an evaluation ends; null after Ctrl-C. @throws Error if it failed */
function followEvaluation(
  session: Session,
  manifest: EvaluationManifest,
  interruption: AbortSignal,
): Promise<EvaluationProgress | undefined | null> {
  const view = openView<EvaluationProgress>(process.stderr, {
    draw: (progress, { now, columns }) => wrapFacts(describeProgress(manifest, progress, now), columns),
    tell: (before, after) =>
      before?.done === after.done ? [] : [joinFacts(...describeProgress(manifest, after, Date.now()))],
  });
  return follow(session, manifest.id, interruption, { states: progressOf(session, manifest.id), view });
}

/** Polls the progress of an evaluation, and yields its result at the end. */
async function* progressOf(session: Session, id: string): AsyncGenerator<EvaluationProgress> {
  const handle = session.temporal.workflow.getHandle(id);
  yield* lookAgain(async () => {
    if (!(await isRunning(session, id))) return null;
    // While workers restart, none may answer.
    return handle.query<EvaluationProgress>(EVALUATION_PROGRESS_QUERY).catch(() => undefined);
  });
  yield (await handle.result()) as EvaluationProgress;
}

/** Returns e.g. `12 of 100 questions`, `$0.12`, `about 3 min left`, `conductor 0.83`, `worker:gpt 0.71`. */
export function describeProgress(
  { questions, methods }: Pick<EvaluationManifest, 'questions' | 'methods'>,
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

/** Runs `eval --compare ID1 ID2`: shows what changed on the questions of both evaluations; calls no model. */
async function compareKept(ids: readonly string[], options: EvaluateOptions): Promise<ExitCode> {
  const [one, two, ...more] = ids;
  if (one === undefined || two === undefined || more.length > 0)
    throw new UsageError(`--compare takes two evaluations, and ${ids.length} are named: --compare ID1 ID2`);
  const config = await loadSettings(options);
  await checkStore(config.store);
  const store = configuredStore(config);
  const before = await readEvaluation(store, await findEvaluation(store, one));
  const after = await readEvaluation(store, await findEvaluation(store, two));
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
