import { ConfigError, explainIssue } from '../../config/errors';
import {
  normalizeQuestion,
  openDataFile,
  readQuestionFile,
  refuseMistakes,
  type Row,
} from '../../evaluation/data';
import { type Question, wholeQuestion } from '../../grading/question';
import { keepLines } from '../../store/records';
import type { SealedFiles } from '../artifacts';
import type { TrainingSettings } from '../config/resolve';
import type { TrainingConfig } from '../config/schema';
import type { OpenedNight } from '../contract';
import type { WarmStartInput } from '../inputs';
import { type TrainingExample, trainingExampleSchema } from '../records';
import { examplesKey, promptsKey, tokenizerTextsKey } from '../store-keys';
import type { AskedHow } from './examples';
import { planPrompts } from './sample-plans';
import { toTurns } from '../policy/chat';
import {
  type InitRequest,
  type PreflightRequest,
  trainerConfigSchema,
  type WarmStartRequest,
} from '../trainer-contract';
import { z } from 'zod';

/** Reads both files, in which no id or question may occur twice. @throws ConfigError that names each mistake */
export async function readQuestions(
  files: TrainingConfig['data'],
): Promise<{ readonly train: readonly Question[]; readonly heldOut: readonly Question[] }> {
  const train = await readQuestionFile(files.train);
  const heldOut = await readQuestionFile(files.heldOut);
  refuseMistakes(repeatsIn([...train, ...heldOut]));
  return { train: train.map(({ value }) => value), heldOut: heldOut.map(({ value }) => value) };
}

function repeatsIn(rows: readonly Row<Question>[]): string[] {
  const ids = new Map<string, string>();
  const questions = new Map<string, string>();
  return rows.flatMap(({ value, place }) => {
    const { id } = value;
    const question = normalizeQuestion(wholeQuestion(value));
    const [sameId, sameQuestion] = [ids.get(id), questions.get(question)];
    ids.set(id, sameId ?? place);
    questions.set(question, sameQuestion ?? place);
    if (sameId !== undefined) {
      return `${place}: id is ${JSON.stringify(id)}, as it is in ${sameId}: give each question its own`;
    }
    if (sameQuestion === undefined) return [];
    return `${place}: question is the same as in ${sameQuestion}, but for case and blanks: remove one`;
  });
}

/** Reads JSON lines, relative to the working directory. @throws ConfigError that names the place of each mistake */
export async function readRows<T>(file: string, schema: z.ZodType<T>): Promise<readonly Row<T>[]> {
  const rows: Row<T>[] = [];
  const mistakes: string[] = [];
  for await (const { place, ...record } of (await openDataFile(file)).records) {
    if ('problem' in record) {
      mistakes.push(`${place}: ${record.problem}`);
      continue;
    }
    const { success, data, error } = schema.safeParse(record.fields);
    if (success) rows.push({ value: data, place });
    else mistakes.push(...error.issues.map((issue) => `${place}: ${explainIssue(issue, record.fields)}`));
  }
  refuseMistakes(mistakes);
  if (rows.length === 0) throw new ConfigError(`${file} holds no line: expected JSON lines, one row each`);
  return rows;
}

const COMPARED_PROMPTS = 50;

/** Keeps prompts of the night's questions, by which policy server and trainer are compared. */
export async function keepPrompts(
  sealed: SealedFiles,
  questions: readonly Question[],
  { workers, settings, store }: AskedHow,
): Promise<PreflightRequest['prompts']> {
  const prompts = questions.slice(0, COMPARED_PROMPTS).map(async (question) => {
    const [messages = []] = await planPrompts(store, { workers, plans: 1 }, settings, question);
    return toTurns(messages);
  });
  return keepLines(sealed, await Promise.all(prompts), promptsKey);
}

const TOKENIZER_TEXTS = 2000;

type WarmStartSettings = Omit<WarmStartRequest, 'trainRun' | 'parent' | 'examples' | 'config'> & {
  readonly examples: readonly TrainingExample[];
};

/** Builds the trainer's first requests; a tiny model's tokenizer is made from examples, else from questions. */
export async function askForFirstCheckpoint(
  sealed: SealedFiles,
  { base, warmStart }: Pick<TrainingConfig, 'base' | 'warmStart'>,
  settings: TrainingSettings,
  questions: readonly Question[],
): Promise<Pick<OpenedNight, 'init' | 'warmStart'>> {
  if (warmStart === undefined) {
    const texts = questions.map(({ question }) => question);
    return { init: await askForBase(sealed, base, texts, settings), warmStart: null };
  }
  const rows = await readRows(warmStart.examples, trainingExampleSchema);
  const start = { ...warmStart, name: 'warm', examples: rows.map(({ value }) => value) };
  return askForWarmStart(sealed, base, start, settings);
}

export async function askForWarmStart(
  sealed: SealedFiles,
  base: TrainingConfig['base'],
  { examples, ...start }: WarmStartSettings,
  settings: TrainingSettings,
): Promise<Pick<WarmStartInput, 'init' | 'warmStart'>> {
  const texts = examples.map(
    ({ completion, ...asked }) =>
      ('prompt' in asked ? asked.prompt : asked.messages.map(({ content }) => content).join('\n')) +
      completion,
  );
  const init = await askForBase(sealed, base, texts, settings);
  const { trainRun, config } = init;
  const stored = await keepLines(sealed, examples, examplesKey);
  const parent = { trainRun, name: 'base' };
  return { init, warmStart: { ...start, trainRun, parent, examples: stored, config } };
}

async function askForBase(
  sealed: SealedFiles,
  base: TrainingConfig['base'],
  texts: readonly string[],
  { trainRun, trainer }: TrainingSettings,
): Promise<InitRequest> {
  const config = z.object(trainerConfigSchema.shape).parse(trainer);
  if (base.kind === 'folder') return { trainRun, base, config };
  const stored = await keepLines(sealed, texts.slice(0, TOKENIZER_TEXTS), tokenizerTextsKey);
  return { trainRun, base: { ...base, texts: stored }, config };
}
