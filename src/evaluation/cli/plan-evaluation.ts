import { addOns } from '../../cli/add-ons';
import { UsageError } from '../../cli/ending';
import type { Session } from '../../cli/session';
import { checkCostLimit, storeOf } from '../../cli/load-settings';
import { say } from '../../cli/terminal';
import { newEvaluationId } from '../../client/run-id';
import { resolveRun } from '../../config/resolve-run';
import { resolveVerifier } from '../../config/cards';
import type { Config } from '../../config/schema';
import type { ModelCard } from '../../protocol/cards';
import { keepLines } from '../../store/texts';
import type { Store } from '../../store/store';
import { counted, describeUsd } from '../../trace/describe';
import { type EvaluatedQuestion, manifestKey, questionSetKey } from '../contract';
import { readMethods, REFERENCE } from '../methods/read-method';
import type { LogFacts, Manifest } from '../results';
import { drawFromFile, drawFromLog, type DrawOptions, needsVerifier } from './draw-questions';
import { estimateEvaluation, type EstimateOptions } from './estimate';
import { checkLearning, findBestWorker, routeQuestions } from './earlier';

/** Options that decide which methods are tried on which questions. */
export interface PlanOptions extends DrawOptions {
  /** Default: the Conductor and all workers; of the log, the best worker. */
  readonly methods?: readonly string[];
  readonly allow?: string[];
  readonly deny?: string[];
  readonly maxCost?: number | null;
  readonly fromTraces?: boolean;
  readonly judge?: boolean;
  readonly learnFrom?: string;
}

interface PlannedEvaluation {
  readonly manifest: Omit<Manifest, 'set'>;
  readonly questions: readonly EvaluatedQuestion[];
}

/** Reads what is to be tried, and says what it will probably cost. @throws UsageError before anything is started */
export async function planForFile(
  file: string,
  options: PlanOptions,
  config: Config,
): Promise<PlannedEvaluation> {
  if (options.judge === true)
    throw new UsageError('--judge is for questions without a right answer: use it with --from-traces');
  const questions = await drawFromFile(file, options);
  const names = options.methods ?? ['conductor', 'workers'];
  return plan({ file, questions, names }, options, { config, store: storeOf(config) });
}

/** Plans an evaluation of logged questions, which the Conductor has answered already. */
export async function planForLog(
  session: Session,
  file: string | undefined,
  options: PlanOptions,
): Promise<PlannedEvaluation> {
  const run = resolveRun(session.config, { pool: options });
  const names = [REFERENCE, ...(options.methods ?? [await findBestWorker(session.store, run)])];
  return plan({ file: 'the log', names, ...(await drawFromLog(session, file, options)) }, options, session);
}

interface Drawn {
  readonly file: string;
  readonly questions: readonly EvaluatedQuestion[];
  readonly names: readonly string[];
  readonly log?: LogFacts;
}

async function plan(
  { file, questions, names, log }: Drawn,
  options: PlanOptions,
  { config, store }: Pick<Session, 'config' | 'store'>,
): Promise<PlannedEvaluation> {
  const { judge: compares = false, seed, learnFrom } = options;
  const run = resolveRun(config, { pool: options });
  const verifier = verifierFor(questions, compares, config);
  const judging = verifier && { verifier };
  const workers = run.workers.map(({ id }) => id);
  const methods = await methodsOf(names, workers, store);
  checkLearning(methods, learnFrom);
  sayEstimate(methods, questions, { run, verifier, compares }, options);
  checkBudget({ run, ...judging }, options);
  const routed = learnFrom === undefined ? null : await routeQuestions(store, learnFrom, questions, workers);
  const manifest = {
    schema: 1,
    id: newEvaluationId(),
    file,
    questions: questions.length,
    methods,
    workers,
    seed,
    startedAt: new Date().toISOString(),
    run,
    ...judging,
    ...(compares && { compares }),
    ...(log && { log }),
    ...(routed && { learned: routed.learned }),
  } as const;
  return { manifest, questions: routed?.questions ?? questions };
}

export async function keepPlan(store: Store, { manifest, questions }: PlannedEvaluation): Promise<Manifest> {
  const { key: set } = await keepLines(store, questions, questionSetKey);
  const kept = { ...manifest, set };
  await store.write(manifestKey(kept.id), Buffer.from(JSON.stringify(kept)));
  return kept;
}

/** The model that judges answers; null where none is needed. @throws UsageError where none is configured */
function verifierFor(
  questions: readonly EvaluatedQuestion[],
  compares: boolean,
  config: Config,
): ModelCard | null {
  const judged = questions.find(needsVerifier);
  const asking = compares ? '--judge' : judged && `question ${judged.id}`;
  if (asking === undefined) return null;
  const verifier = resolveVerifier(config);
  if (verifier !== null) return verifier;
  throw new UsageError(
    `${asking} asks a model that judges answers, and the configuration names none: add "verifier:" with a model from ` +
      'outside the pool',
  );
}

/** @throws UsageError where it will probably cost something, and nothing says how much it may */
function sayEstimate(
  methods: readonly string[],
  questions: readonly EvaluatedQuestion[],
  setting: EstimateOptions,
  { maxCost }: PlanOptions,
): void {
  const { calls, usd } = estimateEvaluation(methods, questions, setting);
  const cost = usd === null ? 'at a cost that is unknown, since a price is' : `about ${describeUsd(usd)}`;
  const size = `${counted(questions.length, 'question')} × ${counted(methods.length, 'method')}`;
  say(`${size}: about ${calls.toLocaleString('en-US')} calls, ${cost}.`);
  if (maxCost !== undefined || usd === 0) return;
  throw new UsageError(
    'nothing was started: set what it may cost at most with --max-cost USD, or --max-cost none',
  );
}

/** @throws UsageError where a price is unknown that a budget needs */
export function checkBudget(
  { run, verifier }: Pick<Manifest, 'run' | 'verifier'>,
  { maxCost }: Pick<PlanOptions, 'maxCost'>,
): void {
  if (typeof maxCost !== 'number') return;
  checkCostLimit(run);
  if (verifier?.price !== null) return;
  throw new UsageError(
    `--max-cost cannot be enforced: the verifier ${verifier.model} has no known price; add "price: { input, output }", ` +
      'in USD per million tokens, to it in conductor.yaml',
  );
}

/** @throws UsageError for a name that means no method, or a method that the store cannot serve */
async function methodsOf(
  names: readonly string[],
  workers: readonly string[],
  store: Store,
): Promise<string[]> {
  try {
    const methods = readMethods(names, workers);
    for (const addOn of addOns) await addOn.checkMethods?.(store, methods);
    return methods;
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}
