import { isNotFound } from '../../client/steer';
import { addOns } from '../../cli/add-ons';
import { UsageError } from '../../cli/exit-code';
import type { Session } from '../../cli/session';
import { say } from '../../cli/terminal';
import { checkRun } from '../../activities/check-run';
import { differencesOf } from '../../config/digest';
import { keyFor, modelCardsOf } from '../../config/api-keys';
import { resolveRun } from '../../config/resolve-run';
import { resolveVerifier } from '../../config/cards';
import { reasonOf } from '../../reason-of';
import type { ConfigDigest } from '../../protocol/activity-contract';
import type { ResolvedRun } from '../../protocol/run';
import { keepLines } from '../../store/texts';
import type { Store } from '../../store/store';
import { counted } from '../../trace/describe';
import type { Config } from '../../config/schema';
import { readResults } from '../activities/read-results';
import { EVALUATE_WORKFLOW, type EvaluateInput, EVALUATION_PRIORITY } from '../contract';
import { manifestKey, questionSetKey, resultsFolder } from '../store-keys';
import type { Manifest } from '../results';
import { routeQuestions } from './learn';
import type { PlannedEvaluation, PlanOptions } from './plan-evaluation';

export interface BeginOptions {
  readonly window: number;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly resume?: string;
}

export async function keepPlan(
  store: Store,
  { manifest, questions: asked }: PlannedEvaluation,
  { learnFrom }: Pick<PlanOptions, 'learnFrom'>,
): Promise<Manifest> {
  for (const addOn of addOns) await addOn.checkMethods?.(store, manifest.methods);
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

/**
 * Says what was configured otherwise when an evaluation began: it goes on with that.
 *
 * @param makesCalls in this process
 * @throws UsageError where this configuration does not serve what it began with
 */
export function checkConfiguration(
  { id, run, verifier, workers }: Manifest,
  config: Config,
  makesCalls: boolean,
): void {
  const now = resolveRun(config);
  // One that was begun with a part of the pool goes on with that part.
  const pool = now.workers.filter((worker) => workers.includes(worker.id));
  const before = { ...partsOf(run), verifier: JSON.stringify(verifier) };
  const today = verifier === undefined ? undefined : (resolveVerifier(config) ?? undefined);
  const after = { ...partsOf({ ...now, workers: pool }), verifier: JSON.stringify(today) };
  const changes = differencesOf(before, after).join(', ');
  if (changes === '') return;
  try {
    checkRun({ config }, run);
    const cards = [...modelCardsOf(run), ...(verifier === undefined ? [] : [verifier])];
    for (const card of makesCalls ? cards : []) keyFor(card, config, process.env);
  } catch (error) {
    throw new UsageError(
      `the configuration has changed since evaluation ${id} began (${changes}), and does not serve what it began with: ` +
        `${reasonOf(error)}. Name the configuration of then with --config, or begin a new evaluation`,
    );
  }
  say(
    `The configuration has changed since evaluation ${id} began (${changes}): it goes on with what it began with.`,
  );
}

/** Names the parts of a run by which a change is reported. */
function partsOf({ conductor, workers, limits, recursion }: ResolvedRun): ConfigDigest {
  const parts: [string, unknown][] = [
    ['conductor', conductor],
    ['recursion', recursion],
    ...workers.map((worker): [string, unknown] => [`workers.${worker.id}`, worker]),
    ...Object.entries(limits).map(([name, limit]): [string, unknown] => [`limits.${name}`, limit]),
  ];
  return Object.fromEntries(parts.map(([name, part]) => [name, JSON.stringify(part)]));
}

/**
 * Begins it, or goes on with one that stopped early; one that runs is left as it is.
 *
 * @returns false where nothing is left to be done
 */
export async function begin(session: Session, manifest: Manifest, options: BeginOptions): Promise<boolean> {
  const { id, methods, questions } = manifest;
  const known = await readResults(session.store, resultsFolder(id));
  if (known.length === methods.length * questions) return false;
  if (options.resume !== undefined) {
    if (await isRunning(session, id)) return true;
    if (options.maxCost === undefined) {
      throw new UsageError(
        `evaluation ${id} stopped early; set a budget for the rest with --max-cost USD, or --max-cost none`,
      );
    }
  }
  await start(session, manifest, options);
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
  { window, maxCost }: BeginOptions,
): Promise<void> {
  const { id, methods, workers, seed, set, questions, run, verifier, compares } = manifest;
  const input: EvaluateInput = {
    id,
    methods,
    workers,
    seed,
    set,
    questions,
    window,
    run,
    verifier,
    compares,
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
