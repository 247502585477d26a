import { refuseUnrepeatable } from '../../config/tools';
import { UsageError } from '../../errors';
import type { Session } from '../kit/session';
import { checkCostLimit } from '../kit/load-settings';
import { configuredStore } from '../../store/open-store';
import { say } from '../kit/terminal';
import { newEvaluationId } from '../../client';
import { haveNoPrice, isPriced, narrowRun, priceSettingOf, resolveRun } from '../../config/resolve-run';
import { checkApiKey } from '../../config/api-keys';
import { resolveBaselines, resolveVerifier } from '../../config/cards';
import { someOf } from '../../config/errors';
import type { Config } from '../../config/schema';
import type { Question } from '../../grading/question';
import type { ModelCard } from '../../protocol/cards';
import type { PoolFilter } from '../../protocol/input';
import { keepLines } from '../../store/records';
import type { Store } from '../../store/store';
import { counted, describeUsd } from '../../trace/describe';
import { checkpointId, readCheckpointId } from '../../training/names';
import { listCheckpoints } from '../../training/client';
import {
  askedBeside,
  type Cast,
  type EvaluatedQuestion,
  type LogFacts,
  type EvaluationManifest,
  evaluationManifestKey,
  modelsBeside,
  questionSetKey,
  readCondition,
  readMethod,
  readMethods,
  readPolicy,
  REFERENCE,
} from '../../evaluation/definitions';
import { madeWith } from '../../evaluation/report';
import { drawFromFile, drawFromLog, type DrawOptions, needsVerifier, readJudgeable } from './draw-questions';
import { estimateEvaluation } from './estimate';
import { checkLearning, requireBestWorker, nameBest, routeQuestions } from './earlier';

export interface PlanOptions extends DrawOptions {
  /** Default: the Conductor and all workers; for the log, the best worker. */
  readonly methods?: readonly string[];
  readonly allow?: string[];
  readonly deny?: string[];
  readonly maxCost?: number | null;
  readonly fromTraces?: boolean;
  readonly judge?: boolean;
  readonly detach?: boolean;
  readonly learnFrom?: string;
  /** Tries of each question by each method; undefined: one. */
  readonly repeats?: number;
  readonly primary?: string;
  readonly failIf?: string;
}

/** Stores a planned evaluation, so that it can be started. */
type Keep = (store: Store) => Promise<EvaluationManifest>;

/** Questions of a file, as far as they are drawn. */
export type FileQuestions = Pick<Drawn, 'file' | 'questions'>;

/** Reads the questions of a file. @throws UsageError, ConfigError if it cannot be evaluated, with any models */
export async function readFileQuestions(file: string, options: PlanOptions): Promise<FileQuestions> {
  if (options.judge === true)
    throw new UsageError('--judge is for questions without a right answer: use it with --from-traces');
  return { file, questions: await drawFromFile(file, options) };
}

/** Questions with right answers, for logged ones. */
export type KnownAnswers = readonly Question[];

/** Reads right answers to logged questions, if there is a file of them. @throws UsageError, ConfigError if it is wrong */
export async function readKnown(file: string | undefined, { grader }: PlanOptions): Promise<KnownAnswers> {
  return file === undefined ? [] : readJudgeable(file, grader);
}

/** Plans an evaluation of a file and prints its estimated cost. @throws UsageError before anything is started */
export async function planForFile(
  questions: FileQuestions,
  options: PlanOptions,
  config: Config,
): Promise<Keep> {
  const names = options.methods ?? ['conductor', 'workers'];
  return plan({ ...questions, names }, options, { config, store: configuredStore(config) });
}

/** Plans an evaluation of logged questions, which the Conductor has answered already. */
export async function planForLog(session: Session, options: PlanOptions, known: KnownAnswers): Promise<Keep> {
  if (options.repeats !== undefined)
    throw new UsageError(
      '--repeats tries questions again, but those of the log were answered once: drop it, or --from-traces',
    );
  const run = resolveRun(session.config, { pool: options });
  const names = [REFERENCE, ...(options.methods ?? [await requireBestWorker(session.store, run)])];
  return plan({ file: 'the log', names, ...(await drawFromLog(session, known, options)) }, options, session);
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
  { config, store: earlier }: { readonly config: Config; readonly store: Store },
): Promise<Keep> {
  const { judge: compares, seed, learnFrom, repeats } = options;
  const run = resolveRun(config, { pool: options });
  refuseUnrepeatable(run, 'an evaluation');
  const verifier = verifierFor(questions, compares, config);
  const workers = run.workers.map(({ id }) => id);
  const cast = { workers, baselines: config.baselines, conductors: config.conductors };
  const asked = [...names, ...(options.primary === undefined ? [] : [options.primary])];
  const named = await nameBest(earlier, run, asked);
  const methods = readMethods(named.slice(0, names.length), cast);
  await checkCheckpoints(earlier, methods);
  checkLearning(methods, learnFrom);
  const primary = readPrimary(named[names.length], methods, cast);
  if (options.failIf !== undefined) readCondition(options.failIf, { methods, workers });
  const setting = { run, verifier, compares, ...resolveBeside(config, options, askedBeside(methods, cast)) };
  sayEstimate(methods, repeatQuestions(questions, repeats), setting, options);
  checkBudget(setting, options);
  for (const [, card] of options.detach === true ? [] : modelsBeside(setting)) checkApiKey(card, config);
  const routed =
    learnFrom === undefined ? null : await routeQuestions(earlier, learnFrom, questions, workers);
  return async (store) => {
    const tries = repeatQuestions(routed?.questions ?? questions, repeats);
    const { key: set } = await keepLines(store, tries, questionSetKey);
    const manifest: EvaluationManifest = {
      schema: 1,
      id: newEvaluationId(),
      file,
      set,
      questions: tries.length,
      repeats,
      primary,
      methods,
      workers,
      seed,
      startedAt: new Date().toISOString(),
      ...setting,
      log,
      learned: routed?.learned,
      madeWith: madeWith(run, setting.conductors),
    };
    await store.write(evaluationManifestKey(manifest.id), Buffer.from(JSON.stringify(manifest)));
    return manifest;
  };
}

/** @throws UsageError if a method names a checkpoint that the store does not know */
export async function checkCheckpoints(store: Store, methods: readonly string[]): Promise<void> {
  for (const method of methods) {
    const [, argument] = /^conductor:(.*)$/.exec(method) ?? [];
    const checkpoint = readCheckpointId((argument && readPolicy(argument)?.checkpoint) ?? '');
    if (checkpoint === null) continue;
    const known = await listCheckpoints(store, checkpoint.trainRun);
    if (known.includes(checkpoint.name)) continue;
    const there =
      known.length === 0 ? `none of training run ${checkpoint.trainRun}` : someOf(known.toSorted());
    throw new UsageError(
      `there is no checkpoint ${checkpointId(checkpoint)}: the store ${store.url} has ${there}`,
    );
  }
}

/** Resolves the cards of the additional Conductors and the baselines that methods use, and of no others. */
function resolveBeside(
  config: Config,
  pool: PoolFilter,
  { conductors, baselines }: ReturnType<typeof askedBeside>,
): Pick<EvaluationManifest, 'conductors' | 'baselines'> {
  const outside = { ...resolveRun(config), workers: resolveBaselines(config) };
  return {
    conductors: Object.fromEntries(
      conductors.map((name) => [name, resolveRun(config, { pool, conductor: { name } }).conductor]),
    ),
    baselines: baselines.length === 0 ? [] : narrowRun(outside, { pool: { allow: baselines } }).workers,
  };
}

/** Repeats the whole list, so that a run that its budget stops has tried as many questions as possible. */
function repeatQuestions(questions: readonly EvaluatedQuestion[], tries = 1): EvaluatedQuestion[] {
  return Array.from({ length: tries }, (_, repeat) =>
    questions.map((question) => (repeat === 0 ? question : { ...question, repeat })),
  ).flat();
}

/** Returns the full name of the primary method. @throws UsageError if it is not compared with the reference */
function readPrimary(given: string | undefined, methods: readonly string[], cast: Cast): string | undefined {
  if (given === undefined) return undefined;
  const { name } = readMethod(given, cast);
  const reference = methods.includes(REFERENCE) ? REFERENCE : methods[0];
  if (methods.includes(name) && name !== reference) return name;
  const others = methods.filter((method) => method !== reference);
  throw new UsageError(
    `--primary names ${name}, which is not compared with ${reference ?? 'anything'}: name one of ${others.join(', ')}`,
  );
}

/** Returns the model that judges answers; undefined if none is needed. @throws UsageError if none is configured */
function verifierFor(
  questions: readonly EvaluatedQuestion[],
  compares: boolean | undefined,
  config: Config,
): ModelCard | undefined {
  const judged = questions.find(needsVerifier);
  const asking = compares ? '--judge' : judged && `question ${judged.id}`;
  if (asking === undefined) return undefined;
  const verifier = resolveVerifier(config);
  if (verifier !== null) return verifier;
  throw new UsageError(
    `${asking} needs a verifier, but none is configured: add "verifier:" with a model from outside the pool`,
  );
}

/** Prints the estimated cost. @throws UsageError if it is not zero and --max-cost is missing */
function sayEstimate(
  methods: readonly string[],
  questions: readonly EvaluatedQuestion[],
  setting: Pick<EvaluationManifest, 'run' | 'conductors' | 'baselines' | 'verifier' | 'compares'>,
  { maxCost }: PlanOptions,
): void {
  const { calls, usd } = estimateEvaluation(methods, questions, setting);
  const cost = usd === null ? 'at an unknown cost, since a price is missing' : `about ${describeUsd(usd)}`;
  const size = `${counted(questions.length, 'question')} × ${counted(methods.length, 'method')}`;
  say(`${size}: about ${calls.toLocaleString('en-US')} calls, ${cost}.`);
  if (maxCost !== undefined || usd === 0) return;
  throw new UsageError('nothing was started: set a budget with --max-cost USD, or --max-cost none');
}

/** @throws UsageError if a price that the budget needs is unknown */
export function checkBudget(
  evaluation: Pick<EvaluationManifest, 'run' | 'conductors' | 'baselines' | 'verifier'>,
  { maxCost }: Pick<PlanOptions, 'maxCost'>,
): void {
  if (typeof maxCost !== 'number') return;
  checkCostLimit(evaluation.run);
  const unpriced = modelsBeside(evaluation).filter(([, card]) => !isPriced(card));
  if (unpriced.length === 0) return;
  const settings = [...new Set(unpriced.map(([, card]) => priceSettingOf(card)))].join(' or ');
  throw new UsageError(
    `--max-cost cannot be enforced: ${haveNoPrice(unpriced.map(([role]) => role))}; add ${settings}, in the configuration`,
  );
}
