import { stringify } from 'yaml';
import { notesOfRun } from '../../client/training/notes-of-run';
import { EXIT, type ExitCode } from '../exit-code';
import { print } from '../terminal';
import { UsageError } from '../usage-error';
import { findTraining, type TrainOptions } from './open-training';

/** Prints notes on the workers, measured on the training questions, as they may stand in a configuration. Needs no server. */
export async function writeNotes(options: TrainOptions): Promise<ExitCode> {
  const { store, trainRun } = await findTraining(options);
  const notes = await notesOfRun(store, trainRun);
  if (notes.size === 0) {
    throw new UsageError(
      `nothing can be told of workers from training run ${trainRun} in the store ${store.url}: ` +
        'it takes a cycle that is over, and questions with a "topic"',
    );
  }
  const workers = Array.from(notes, ([id, told]) => ({ id, notes: told }));
  await print(stringify({ workers }).trimEnd());
  return EXIT.answered;
}
