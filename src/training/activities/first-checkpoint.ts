import { z } from 'zod';
import type { SealedFiles } from '../artifacts';
import type { TrainingConfig } from '../config/schema';
import type { OpenedNight } from '../contract';
import type { WarmStartInput } from '../inputs';
import { examplesKey, tokenizerTextsKey } from '../store-keys';
import type { Question } from '../../grading/question';
import type { TrainingSettings } from '../config/resolve';
import { type InitRequest, trainerConfigSchema, type WarmStartRequest } from '../trainer-contract';
import { readRows } from './questions';
import { keepLines } from '../../store/texts';

/** More texts make a tokenizer of some hundred tokens no better. */
const TOKENIZER_TEXTS = 2000;

export const exampleSchema = z.strictObject({
  /** Prompt of the policy, markers included. */
  prompt: z.string().min(1),
  /** Reply it is to learn, without the marker at its end. */
  completion: z.string().min(1),
});
export type Example = z.infer<typeof exampleSchema>;

/** Supervised steps on examples, and the name of the checkpoint that they make. */
type WarmStartSettings = Omit<WarmStartRequest, 'trainRun' | 'parent' | 'examples' | 'config'> & {
  readonly examples: readonly Example[];
};

/**
 * Requests to the trainer before the first cycle: the base model as a checkpoint, and supervised steps where examples are
 * configured. The tokenizer of a tiny model is made from the examples, else from the questions.
 *
 * @throws ConfigError that names file, line and value of each mistake in the examples
 */
export async function askForFirstCheckpoint(
  sealed: SealedFiles,
  { base, warmStart }: Pick<TrainingConfig, 'base' | 'warmStart'>,
  settings: TrainingSettings,
  questions: readonly Question[],
): Promise<Pick<OpenedNight, 'init' | 'warmStart'>> {
  if (warmStart !== undefined) {
    const rows = await readRows(warmStart.examples, exampleSchema);
    const start = { ...warmStart, name: 'warm', examples: rows.map(({ value }) => value) };
    return askForWarmStart(sealed, base, start, settings);
  }
  const texts = questions.map(({ question }) => question);
  return { init: await askForBase(sealed, base, texts, settings), warmStart: null };
}

export async function askForWarmStart(
  sealed: SealedFiles,
  base: TrainingConfig['base'],
  { examples, ...start }: WarmStartSettings,
  settings: TrainingSettings,
): Promise<Pick<WarmStartInput, 'init' | 'warmStart'>> {
  const texts = examples.map(({ prompt, completion }) => prompt + completion);
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
