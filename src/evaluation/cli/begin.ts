import { describeRun } from '../../client/list-runs';
import { addOns } from '../../cli/add-ons';
import { UsageError } from '../../cli/ending';
import type { Session } from '../../cli/session';
import { say } from '../../cli/terminal';
import { checkRun } from '../../activities/check-run';
import { keyFor, modelCardsOf } from '../../config/api-keys';
import { reasonOf } from '../../errors';
import { keepLines } from '../../store/texts';
import type { Store } from '../../store/store';
import { counted } from '../../trace/describe';
import type { Config } from '../../config/schema';
import { readResults } from '../activities';
import {
  EVALUATE_WORKFLOW,
  type EvaluateInput,
  EVALUATION_PRIORITY,
  manifestKey,
  questionSetKey,
  resultsFolder,
} from '../contract';
import type { Manifest } from '../results';
import { routeQuestions } from './earlier';
import type { PlannedEvaluation, PlanOptions } from './plan-evaluation';

export interface BeginOptions {
  readonly window: number;
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
 * An evaluation goes on with the models that it began with.
 *
 * @param makesCalls in this process
 * @throws UsageError where this configuration does not serve them
 */
export function checkConfiguration(
  { id, run, verifier }: Manifest,
  config: Config,
  makesCalls: boolean,
): void {
  try {
    checkRun({ config }, run);
    const cards = [...modelCardsOf(run), ...(verifier === undefined ? [] : [verifier])];
    for (const card of makesCalls ? cards : []) keyFor(card, config, process.env);
  } catch (error) {
    throw new UsageError(
      `this configuration does not serve what evaluation ${id} began with: ${reasonOf(error)}. ` +
        'Name the configuration of then with --config, or begin a new evaluation',
    );
  }
  say(`Evaluation ${id} goes on with the models and limits that it began with.`);
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
  return (await describeRun(temporal, id))?.status.name === 'RUNNING';
}

async function start(
  { temporal, config }: Session,
  { id, methods, workers, seed, set, questions, run, verifier, compares, file }: Manifest,
  { window, maxCost }: BeginOptions,
): Promise<void> {
  const planned = { id, methods, workers, seed, set, questions, run, verifier, compares };
  const nanoUsd = typeof maxCost === 'number' ? Math.round(maxCost * 1e9) : null;
  const input: EvaluateInput = { ...planned, window, runNanoUsd: run.limits.nanoUsd, nanoUsd };
  await temporal.workflow.start(EVALUATE_WORKFLOW, {
    workflowId: id,
    taskQueue: config.temporal.taskQueue,
    args: [input],
    priority: { priorityKey: EVALUATION_PRIORITY },
    staticSummary: `${counted(questions, 'question')} of ${file}, ${counted(methods.length, 'method')}`,
  });
}
