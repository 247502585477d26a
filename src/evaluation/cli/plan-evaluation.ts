import { UsageError } from '../../cli/exit-code';
import type { Session } from '../../cli/session';
import { checkCostLimit } from '../../cli/load-settings';
import { say } from '../../cli/terminal';
import { newEvaluationId } from '../../client/run-id';
import { resolveRun } from '../../config/resolve-run';
import { resolveVerifier } from '../../config/cards';
import { counted, describeUsd } from '../../trace/describe';
import type { Config } from '../../config/schema';
import type { EvaluatedQuestion } from '../contract';
import { readMethods, REFERENCE } from '../methods/read-method';
import type { LogFacts, Manifest } from '../results';
import { findBestWorker } from './find-evaluation';
import { type Estimate, estimateEvaluation } from './estimate';
import { checkLearning } from './learn';
import { drawFromLog } from './log';
import { type DrawOptions, needsVerifier, readQuestions } from './questions';

/** Options that decide which methods are tried on which questions. */
export interface PlanOptions extends DrawOptions {
  /** Default: the Conductor and all workers; of the log, the best worker. */
  readonly methods?: readonly string[];
  readonly allow?: string[];
  readonly deny?: string[];
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly fromTraces?: boolean;
  readonly judge?: boolean;
  /** Id of an earlier evaluation. */
  readonly learnFrom?: string;
}

export interface PlannedEvaluation {
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
  const questions = await readQuestions(file, options);
  return plan({ file, questions, methods: options.methods ?? ['conductor', 'workers'] }, options, config);
}

/** Plans an evaluation of logged questions, which the Conductor has answered already. */
export async function planForLog(
  session: Session,
  file: string | undefined,
  options: PlanOptions,
): Promise<PlannedEvaluation> {
  const { config, store } = session;
  const run = resolveRun(config, { pool: options });
  const methods = options.methods ?? [await findBestWorker(store, run)];
  const { questions, log } = await drawFromLog(session, file, options);
  const found = { file: 'the log', questions, methods: [REFERENCE, ...methods], log };
  return plan(found, options, config);
}

interface Found {
  readonly file: string;
  readonly questions: readonly EvaluatedQuestion[];
  readonly methods: readonly string[];
  readonly log?: LogFacts;
}

function plan(
  { file, questions, methods: named, log }: Found,
  options: PlanOptions,
  config: Config,
): PlannedEvaluation {
  const run = resolveRun(config, { pool: options });
  const verifier = resolveVerifier(config);
  const isNeeded = options.judge === true || questions.some(needsVerifier);
  if (isNeeded && verifier === null) throw new UsageError(noVerifier(questions.find(needsVerifier)));
  const workers = run.workers.map(({ id }) => id);
  const methods = namedMethods(named, workers);
  checkLearning(methods, options.learnFrom);
  const compares = options.judge === true;
  const estimate = estimateEvaluation(methods, questions, { run, verifier, compares });
  say(
    `${counted(questions.length, 'question')} × ${counted(methods.length, 'method')}: ${describeEstimate(estimate)}`,
  );
  refuseUnbounded(estimate, options);
  const judging = isNeeded && verifier !== null ? { verifier } : {};
  checkBudget({ run, ...judging }, options);
  const manifest = {
    schema: 1,
    id: newEvaluationId(),
    file,
    questions: questions.length,
    methods,
    workers,
    seed: options.seed,
    startedAt: new Date().toISOString(),
    run,
    ...judging,
    ...(compares && { compares }),
    ...(log && { log }),
  } as const;
  return { manifest, questions };
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

function noVerifier(question: EvaluatedQuestion | undefined): string {
  const asks =
    question === undefined ? '--judge asks' : `question ${question.id} says verify: true, which asks`;
  return (
    `${asks} a model that judges answers, and the configuration names none: add "verifier:" with a model from outside ` +
    `the pool, or take ${question === undefined ? '--judge' : 'verify'} out`
  );
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
  const cost = usd === null ? 'at a cost that is unknown, since a price is' : `about ${describeUsd(usd)}`;
  return `about ${calls.toLocaleString('en-US')} calls, ${cost}.`;
}

/** Requires --max-cost before anything that costs money. */
function refuseUnbounded({ usd }: Estimate, { maxCost }: PlanOptions): void {
  if (maxCost !== undefined || usd === 0) return;
  throw new UsageError(
    'nothing was started: set what it may cost at most with --max-cost USD, or --max-cost none',
  );
}
