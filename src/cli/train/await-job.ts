import { hasTrainer, type TrainerJob } from '../../client/training/trainer-jobs';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { say } from '../terminal';
import type { TrainingSession } from './open-training';

/** What a job of the trainer is, in words, and where the trainer listens. */
export interface AwaitedJob {
  readonly what: string;
  readonly trainerQueue: string;
}

/**
 * Waits for the trainer to have done what it was asked for.
 *
 * @returns undefined when the person at the keyboard left before: the job goes on
 */
export async function awaitJob<Result>(
  { temporal, server }: TrainingSession,
  job: TrainerJob<Result>,
  { what, trainerQueue }: AwaitedJob,
): Promise<Result | undefined> {
  const interruption = listenForInterruption();
  say(`${what}: workflow ${job.id}`);
  if (!(await hasTrainer(temporal, trainerQueue))) {
    say(
      `No trainer listens on task queue ${trainerQueue} of ${server.address}: start one, see docs/training.md. ` +
        'This command waits for it.',
    );
  }
  const result = await unlessInterrupted(interruption, job.result());
  if (result === undefined) say('It goes on without this command; the same command waits for it again.');
  return result;
}
