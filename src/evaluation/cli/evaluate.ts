import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { newEvaluationId } from '../../client/run-id';
import { isNotFound } from '../../client/steer';
import { keepPicture } from '../../cli/draw';
import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { listenForInterruption } from '../../cli/interruption';
import { checkServed } from '../../cli/queues';
import { type Session, withSession } from '../../cli/session';
import { checkCostLimit, loadServable, loadSettings, type WorkOptions } from '../../cli/settings';
import { print, say, toJson } from '../../cli/terminal';
import { resolveRun } from '../../config/resolve-run';
import type { ResolvedRun } from '../../protocol/run';
import { reasonOf } from '../../reason-of';
import { keepLines } from '../../store/keep-lines';
import { checkStore } from '../../store/open-store';
import { counted, describeUsd } from '../../trace/describe';
import type { EvaluateInput } from '../contract';
import { manifestKey, questionSetKey, resultsFolder } from '../keys';
import { readMethods } from '../methods/read-method';
import { EVALUATE_WORKFLOW, EVALUATION_PRIORITY } from '../names';
import { readManifest, readResults } from '../activities/read-results';
import type { Manifest } from '../records';
import { summarize, type Summary } from '../summarize';
import { type Estimate, estimateEvaluation } from './estimate';
import { followEvaluation } from './follow';
import { checkLearning, routeQuestions } from './learn';
import { checkCheckpoints } from './checkpoints';
import { picturesOf } from './pictures';
import { readQuestions } from './questions';
import { findingsOf, renderReport } from './report';
import { plainTable, tableOf } from './table';

interface EvaluateOptions extends WorkOptions {
  readonly methods: readonly string[];
  readonly allow?: string[];
  readonly deny?: string[];
  readonly sample?: number;
  readonly seed: number;
  readonly window: number;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  /** Id of an earlier evaluation. */
  readonly learnFrom?: string;
  readonly out?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly resume?: string;
}

/** `eval`: tries methods on the questions of a file, and says which was right how often, at what cost. */
export async function evaluate(file: string | undefined, options: EvaluateOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { config, detach = false, allow, deny } = options;
  const loaded = await (detach ? loadSettings(config) : loadServable(options, { allow, deny }));
  if (typeof options.maxCost === 'number') checkCostLimit(loaded, { allow, deny });
  await checkStore(loaded.store);
  const run = resolveRun(loaded, { pool: { allow, deny } });
  const plan = options.resume === undefined ? await planEvaluation(file, options, run) : null;
  const place = detach
    ? ({ role: 'look', outliving: '--detach' } as const)
    : ({ role: 'work', servesCheckpoints: true } as const);
  return withSession(loaded, { file: config, trust: options.trust, ...place }, async (session) => {
    const manifest =
      plan === null ? await findManifest(session, options.resume ?? '') : await keep(session, plan, options);
    const isUnderWay = await begin(session, manifest, run, options);
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
  return `temporal-conductor eval --resume ${id}${config === undefined ? '' : ` --config ${config}`}`;
}

interface PlannedEvaluation {
  readonly manifest: Omit<Manifest, 'set'>;
  readonly questions: Awaited<ReturnType<typeof readQuestions>>;
}

/** Reads what is to be tried, and says what it will probably cost. @throws UsageError before anything is started */
async function planEvaluation(
  file: string | undefined,
  options: EvaluateOptions,
  run: ResolvedRun,
): Promise<PlannedEvaluation> {
  if (file === undefined)
    throw new UsageError('which questions? Name a file, or an evaluation with --resume');
  const { seed, sample } = options;
  const workers = run.workers.map(({ id }) => id);
  const methods = namedMethods(options.methods, workers);
  checkLearning(methods, options.learnFrom);
  const questions = await readQuestions(file, { sample, seed });
  const estimate = estimateEvaluation(methods, questions, run);
  say(
    `${counted(questions.length, 'question')} × ${counted(methods.length, 'method')}: ${describeEstimate(estimate)}`,
  );
  refuseUnbounded(estimate, options);
  const startedAt = new Date().toISOString();
  const manifest = {
    schema: 1,
    id: newEvaluationId(),
    file,
    questions: questions.length,
    methods,
    workers,
    seed,
    startedAt,
  } as const;
  return { manifest, questions };
}

function namedMethods(names: readonly string[], workers: readonly string[]): string[] {
  try {
    return readMethods(names, workers);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

function describeEstimate({ calls, usd }: Estimate): string {
  const cost = usd === null ? 'at a cost that is unknown, since a price is' : `some ${describeUsd(usd)}`;
  return `some ${calls.toLocaleString('en-US')} calls, ${cost}.`;
}

/** What costs money is not begun without a word on how much it may be. */
function refuseUnbounded({ usd }: Estimate, { maxCost }: EvaluateOptions): void {
  if (maxCost !== undefined || usd === 0) return;
  throw new UsageError(
    'nothing was started: say what it may cost at most with --max-cost USD, or --max-cost none',
  );
}

async function keep(
  { store }: Session,
  { manifest, questions: asked }: PlannedEvaluation,
  { learnFrom }: EvaluateOptions,
): Promise<Manifest> {
  await checkCheckpoints(store, manifest.methods);
  const routed =
    learnFrom === undefined
      ? { questions: asked }
      : await routeQuestions(store, learnFrom, { questions: asked, workers: manifest.workers });
  const { questions, ...learned } = routed;
  const { key } = await keepLines(store, questions, questionSetKey);
  const kept: Manifest = { ...manifest, set: key, ...learned };
  await store.write(manifestKey(kept.id), Buffer.from(JSON.stringify(kept)));
  return kept;
}

async function findManifest({ store }: Session, id: string): Promise<Manifest> {
  const isId = /^[a-z0-9][a-z0-9-]{0,62}$/.test(id);
  const manifest = isId ? await readManifest(store, id) : null;
  if (manifest !== null) return manifest;
  throw new UsageError(
    `the store ${store.url} has no evaluation ${JSON.stringify(id)}: check its id and the folder`,
  );
}

/**
 * Begins it, or goes on with one that has ended before its end; one that runs is left as it is.
 *
 * @returns false where nothing is left to be done
 */
async function begin(
  session: Session,
  manifest: Manifest,
  run: ResolvedRun,
  options: EvaluateOptions,
): Promise<boolean> {
  const { id, methods, questions } = manifest;
  const known = await readResults(session.store, resultsFolder(id));
  if (known.length === methods.length * questions) return false;
  if (options.resume !== undefined) {
    if (await isRunning(session, id)) return true;
    if (options.maxCost === undefined) {
      throw new UsageError(
        `evaluation ${id} has ended before its end: say what the rest may cost at most with --max-cost USD, or none`,
      );
    }
  }
  await start(session, manifest, run, options);
  return true;
}

async function isRunning({ temporal }: Session, id: string): Promise<boolean> {
  try {
    return (await temporal.workflow.getHandle(id).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function start(
  { temporal, config }: Session,
  manifest: Manifest,
  run: ResolvedRun,
  { allow, deny, window, maxCost }: EvaluateOptions,
): Promise<void> {
  const { id, methods, workers, seed, set, questions } = manifest;
  const input: EvaluateInput = {
    id,
    methods,
    workers,
    seed,
    set,
    questions,
    window,
    ...((allow ?? deny) && { pool: { allow, deny } }),
    runNanoUsd: run.limits.nanoUsd,
    nanoUsd: typeof maxCost === 'number' ? Math.round(maxCost * 1e9) : null,
  };
  await temporal.workflow.start(EVALUATE_WORKFLOW, {
    workflowId: id,
    taskQueue: config.temporal.taskQueue,
    args: [input],
    priority: { priorityKey: EVALUATION_PRIORITY },
    staticSummary: `${counted(questions, 'question')} of ${manifest.file}, ${counted(methods.length, 'method')}`,
  });
}

/** Prints the table, and writes all that was found into the folder. */
async function showResults({ store }: Session, manifest: Manifest, options: EvaluateOptions): Promise<void> {
  const records = await readResults(store, resultsFolder(manifest.id));
  const summary = summarize(manifest, records);
  const folder = options.out ?? manifest.id;
  await mkdir(folder, { recursive: true });
  const lines = records.map((record) => `${JSON.stringify(record)}\n`);
  await writeFile(join(folder, 'results.jsonl'), lines.join(''));
  const pictures = await keepPictures(summary, folder);
  await writeFile(join(folder, 'report.md'), renderReport(summary, pictures));
  if (options.json === true) await print(toJson(summary));
  else await print([plainTable(tableOf(summary)), '', ...findingsOf(summary)].join('\n'));
  say(`Everything is in ${folder}: report.md, results.jsonl${pictures.length > 0 ? ', pictures' : ''}`);
}

/** The SVGs, by name; without them where nothing here can draw. */
async function keepPictures(summary: Summary, folder: string): Promise<string[]> {
  try {
    const files: string[] = [];
    for (const drawing of picturesOf(summary)) files.push(...(await keepPicture(drawing, folder)));
    return files.filter((file) => file.endsWith('.svg')).map((file) => basename(file));
  } catch (error) {
    say(`No pictures: ${reasonOf(error)}`);
    return [];
  }
}
