import type { Example } from '../../activities/training/first-checkpoint';
import { readRows, type Row } from '../../activities/training/read-rows';
import { examplesOfRun } from '../../client/training/examples-of-run';
import {
  exampleRowSchema,
  writeExample,
  type AskedHow,
  type ExampleRow,
} from '../../client/training/plan-examples';
import { counted } from '../../trace/counted';
import { say } from '../terminal';
import { UsageError } from '../usage-error';
import { chooseRun } from './choose-run';

/** Where examples come from: exactly one of the two. */
export interface ExampleSource {
  /** File of JSON lines. */
  readonly examples?: string;
  /** A training run whose right plans they are; true: the command's own. */
  readonly fromTraces?: string | true;
}

/**
 * The examples of a warm start, each in the words in which the policy will be asked.
 *
 * @throws UsageError where no source is named or it has nothing to imitate
 * @throws ConfigError that names file, line and value of each mistake
 */
export async function gatherExamples(
  { examples, fromTraces }: ExampleSource,
  trainRun: string,
  asked: AskedHow,
): Promise<readonly Example[]> {
  if (examples !== undefined) return readExampleFile(examples, asked);
  if (fromTraces !== undefined) return fromRun(fromTraces === true ? trainRun : chooseRun(fromTraces), asked);
  throw new UsageError('from what? Name a file with --examples, or a training run with --from-traces');
}

async function readExampleFile(file: string, asked: AskedHow): Promise<Example[]> {
  const examples: Example[] = [];
  for (const row of await readRows(file, exampleRowSchema)) examples.push(await writeRow(row, asked));
  return examples;
}

async function writeRow({ value, place }: Row<ExampleRow>, asked: AskedHow): Promise<Example> {
  try {
    return await writeExample(value, asked);
  } catch (error) {
    throw new UsageError(`${place}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

async function fromRun(trainRun: string, asked: AskedHow): Promise<readonly Example[]> {
  const { examples, unfit } = await examplesOfRun(trainRun, asked);
  if (unfit > 0) {
    say(
      `Left out: ${counted(unfit, 'right answer')} of ${trainRun} by plans that this pool could not carry out.`,
    );
  }
  if (examples.length > 0) return examples;
  throw new UsageError(
    `training run ${trainRun} has no plan in the store ${asked.store.url} whose answer was right: ` +
      'see "temporal-conductor train list" for what there is',
  );
}
