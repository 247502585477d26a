import { existsSync } from 'node:fs';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { resolveRun } from '../../config/resolve-run';
import { describeConductor } from '../../config/cards';
import { EXIT, type ExitCode, listenForInterruption, unlessInterrupted } from '../kit/ending';
import { findRun, startedRuns } from '../kit/find-run';
import { sayResumed } from '../kit/view/follow-run';
import { checkCostLimit, loadServable } from '../kit/load-settings';
import { print, say } from '../kit/terminal';
import { breakdownOf } from '../kit/view/follow';
import { completedSolves } from '../../client';
import { sumOfAll } from '../../statistics/statistics';
import { tally } from '../../statistics/tally';
import { readQuestionFile } from '../../evaluation/data';
import { reasonOf, UsageError } from '../../errors';
import { type PlanExample, MAX_EXAMPLES } from '../../plan/plan';
import { counted, describeUsd } from '../../trace/describe';
import {
  askedHow,
  byLength,
  chooseVaried,
  type ExampleRow,
  exampleRowSchema,
  examplesIn,
  type GradedSolve,
  gradeSolve,
  planPromptedGroups,
  readQuestions,
  readRows,
  tryExample,
} from '../../training/client';
import { readExamples, resolveTraining, trainingOf, type TrainingSettings } from '../../training/config';
import type { GroupRecord } from '../../training/definitions';
import { warmStartWith } from './init';
import { findTraining, type TrainingSession, type TrainOptions, withTraining } from './session';

interface ExamplesOptions extends TrainOptions {
  readonly fromPrompted?: boolean;
  /** Ids; true: the latest ones. */
  readonly fromRuns?: readonly string[] | true;
  /** Number of examples to keep for prompts. Default: all, for a warm start. */
  readonly fewShot?: number;
  /** Questions in place of those to learn from. */
  readonly data?: string;
  readonly out?: string;
  readonly questions: number;
  readonly samples: number;
  readonly maxCost?: number | null;
}

/** `train examples`: keeps plans whose answers were right, for `train warm-start` to teach, or for prompts to show. */
export async function gatherExamples(options: ExamplesOptions): Promise<ExitCode> {
  const { fromPrompted = false, fromRuns } = options;
  if (fromPrompted === (fromRuns !== undefined)) {
    throw new UsageError('choose a source: --from-prompted or --from-runs [ID…]');
  }
  return fromPrompted ? fromConductor(options) : fromSolves(options);
}

const DEFAULT_USD = 5;

async function fromConductor(options: ExamplesOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { config } = await findTraining(options);
  if (config.conductor.provider === 'policy') {
    throw new UsageError(
      'conductor.provider is policy, and examples come from a model that is prompted: name one, e.g. with ' +
        '--config and another file',
    );
  }
  const { maxCost = DEFAULT_USD, fewShot, data } = options;
  const questions =
    data === undefined
      ? (await readQuestions(trainingOf(config).data)).train
      : (await readQuestionFile(data)).map(({ value }) => value);
  await loadServable(options);
  if (typeof options.maxCost === 'number') checkCostLimit(resolveRun(config));
  const most = Math.min(options.questions, questions.length);
  return withTraining(options, { role: 'work' }, async (session) => {
    const { temporal, store, worker } = session;
    await sayResumed(session);
    const settings = settingsFor(session, options);
    const groups: GroupRecord[] = [];
    const bound = maxCost === null ? 'without a limit on its cost' : `for at most ${describeUsd(maxCost)}`;
    const conductor = describeConductor(config.conductor);
    say(`Asking the Conductor (${conductor}) for plans of ${counted(most, 'question')}, ${bound}.`);
    const tell = (group: GroupRecord): void => {
      groups.push(group);
      say(`${groups.length} of ${most}: ${describeGroup(group)}`);
    };
    const { taskQueue } = session.config.temporal;
    const nanoUsd = maxCost === null ? null : Math.round(maxCost * 1e9);
    const asked = { client: temporal, taskQueue, store, settings, questions, most, nanoUsd };
    const playing = planPromptedGroups({ ...asked, tell, signal: interruption });
    const reason = await unlessInterrupted(interruption, Promise.race([playing, breakdownOf(worker?.ended)]));
    if (reason === undefined) {
      say('What is under way is kept; the same command goes on from here, and buys nothing twice.');
      return EXIT.interrupted;
    }
    if (reason !== null) say(`Not all were asked: ${reason}.`);
    await print(sumUp(groups));
    if (fewShot !== undefined) {
      return keepFewShot(options.out ?? 'few-shot.yaml', fewShot, await examplesIn(store, groups, questions));
    }
    const rows = groups.flatMap(({ question: id, rollouts, workers }) => {
      const question = questions.find((each) => each.id === id)?.question ?? '';
      const right = rollouts.filter(({ verdict }) => verdict === 'correct');
      return right.flatMap(({ plan }) => (plan === null ? [] : [{ question, plan, workers }]));
    });
    return keep(session, settings, options.out, rows);
  });
}

/** Resolves settings whose limits cover `samples` rollouts of one round each. */
function settingsFor(
  { config, trainRun }: TrainingSession,
  { samples, fewShot }: ExamplesOptions,
): TrainingSettings {
  const training = trainingOf(config);
  const recursion = { ...training.recursion, rounds: 1 as const };
  const changed = { ...training, groupSize: samples, recursion, gate: { ...training.gate, samples } };
  const settings = resolveTraining({ ...config, training: changed }, { trainRun });
  if (fewShot === undefined) return settings;
  // As in the paper: the Conductor writes few-shot examples without seeing any.
  const { run } = settings;
  return { ...settings, run: { ...run, conductor: { ...run.conductor, examples: 'none' } } };
}

const VERDICTS = {
  correct: 'right',
  wrong: 'wrong',
  unparseable: 'no plan',
  ungraded: 'not judged',
} as const;

function describeGroup({ question, rollouts }: GroupRecord): string {
  const verdicts = rollouts.map(({ verdict, problem, invalidBecause }) => {
    const [reason] = (invalidBecause ?? problem)?.split('\n') ?? [];
    return VERDICTS[verdict] + (reason === undefined ? '' : ` (${reason})`);
  });
  return `${question}: ${verdicts.join(', ')}`;
}

function sumUp(groups: readonly GroupRecord[]): string {
  const rollouts = groups.flatMap((group) => group.rollouts);
  const known = rollouts.flatMap(({ nanoUsd }) => nanoUsd ?? []);
  const sum = describeUsd((sumOfAll(known) ?? 0) / 1e9);
  const cost = known.length === rollouts.length ? sum : `at least ${sum}, since a price is unknown`;
  const verdicts = tally(rollouts.map(({ verdict }) => VERDICTS[verdict]));
  const parts = Object.entries(verdicts).map(([words, count]) => `${count} ${words}`);
  return `${counted(rollouts.length, 'plan')}: ${parts.join(', ')}; they cost ${cost}.`;
}

/** Number of solves to search, latest first. */
const MOST_SOLVES = 1_000;

/** Grades solves that were answered before, at no cost. */
function fromSolves({ fromRuns, ...options }: ExamplesOptions): Promise<ExitCode> {
  return withTraining(options, { used: true }, async (session) => {
    const { config, server, store, temporal: client, trainRun } = session;
    const { train: questions } = await readQuestions(trainingOf(config).data);
    const isNamed = fromRuns !== undefined && fromRuns !== true;
    const ids: string[] = [];
    if (isNamed) for (const given of fromRuns) ids.push(await findRun(session, given));
    else {
      const { taskQueue } = config.temporal;
      const known = await startedRuns(server);
      const { solves } = await completedSolves(client, { taskQueue, most: MOST_SOLVES, known });
      ids.push(...solves.map(({ workflowId }) => workflowId));
    }
    const graded: GradedSolve[] = [];
    for (const id of ids) {
      try {
        const solve = await gradeSolve({ client, store, questions }, id);
        if (solve !== null) graded.push(solve);
        else if (isNamed) say(`Left out: ${id} has no answer to one of the training questions.`);
      } catch (error) {
        if (isNamed) throw error;
        // The latest runs of a server may belong to another configuration, with another store or key.
        say(`Left out: ${id} cannot be read here (${reasonOf(error)}).`);
      }
    }
    const right = graded.filter(({ verdict }) => verdict === 'correct');
    await print(`${counted(graded.length, 'solve')} of training questions: ${right.length} right.`);
    const rows = right.map(({ question, plan, workers }) => ({ question, plan, workers }));
    return keep(session, resolveTraining(config, { trainRun }), options.out, rows);
  });
}

/** Adds the examples that this configuration could carry out to a file, without duplicates. */
async function keep(
  { store, config }: TrainingSession,
  settings: TrainingSettings,
  out: string | undefined,
  rows: readonly ExampleRow[],
): Promise<ExitCode> {
  const file = out ?? 'examples.jsonl';
  const asked = askedHow(store, settings);
  const text = await readFile(file, 'utf8').catch(() => '');
  const there = text.trim() === '' ? [] : await readRows(file, exampleRowSchema);
  const known = new Set(there.map(({ value }) => JSON.stringify(value)));
  const lines = new Set<string>();
  let unfit = 0;
  for (const row of rows) {
    if ((await tryExample(row, asked)) === null) unfit += 1;
    else lines.add(JSON.stringify(row));
  }
  const fresh = [...lines].filter((line) => !known.has(line));
  if (unfit > 0) say(`Left out: ${counted(unfit, 'plan')} that this pool could not carry out.`);
  if (fresh.length > 0) {
    const separator = text === '' || text.endsWith('\n') ? '' : '\n';
    await appendFile(file, `${separator}${fresh.join('\n')}\n`);
  }
  const count = there.length + fresh.length;
  await print(`${file}: ${counted(fresh.length, 'example')} added, ${count} in all.`);
  if (count === 0) return EXIT.failed;
  say(`Teach them with: temporal-conductor ${warmStartWith(file, trainingOf(config).base)}`);
  return EXIT.answered;
}

/** Adds up to `count` varied examples to a few-shot file, only of questions that have none there yet. */
async function keepFewShot(file: string, count: number, found: readonly PlanExample[]): Promise<ExitCode> {
  const there = existsSync(file) ? readExamples(file) : [];
  const known = new Set(there.map(({ question }) => question));
  const fresh = found.filter(({ question }) => !known.has(question));
  const added = chooseVaried(fresh, Math.min(count, MAX_EXAMPLES - there.length));
  const all = byLength([...there, ...added]);
  if (added.length > 0) await writeFile(file, stringify(all, { lineWidth: 0 }));
  await print(`${file}: ${counted(added.length, 'example')} added, ${all.length} in all.`);
  if (all.length === 0) return EXIT.failed;
  say(`Have the policy's prompts show them: training.policy.examples: ${file}`);
  return EXIT.answered;
}
