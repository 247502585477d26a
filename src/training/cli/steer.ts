import { EXIT, type ExitCode, UsageError } from '../../cli/exit-code';
import { print, say } from '../../cli/terminal';
import { describeUsd } from '../../trace/describe';
import type { TrainingClient } from '../client/training-client';
import { type TrainOptions, withTraining } from './session';

type Order = Extract<keyof TrainingClient, 'pause' | 'resume' | 'stop' | 'cancel'>;

/** What a person is told once a night was told something: each is heard by the next worker. */
const TOLD: Readonly<Record<Order, string>> = {
  pause: 'The night is held after the cycle that is under way; go on with: temporal-conductor train resume',
  resume: 'The night goes on.',
  stop: 'The night ends after the cycle that is under way, and what it learned is judged.',
  cancel:
    'The night ends now, and nothing of it is judged. The next one goes on with the cycle that was under way.',
};

/** Holds the night under way, lets it go on, or ends it. */
export async function steerNight(order: Order, options: TrainOptions): Promise<ExitCode> {
  return withTraining(options, { used: true }, async ({ training, trainRun }) => {
    await training[order](trainRun);
    say(TOLD[order]);
    return EXIT.answered;
  });
}

/** The options of `train budget`. */
export interface BudgetOptions extends TrainOptions {
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly hours?: number;
}

/** Changes what the rest of the night may use, and prints what then holds. */
export async function budgetNight({ maxCost, hours, ...options }: BudgetOptions): Promise<ExitCode> {
  if (maxCost === undefined && hours === undefined) {
    throw new UsageError('there is nothing to change: name --max-cost, --hours, or both');
  }
  return withTraining(options, { used: true }, async ({ training, trainRun }) => {
    const held = await training.setBudget(trainRun, {
      costUsd: maxCost,
      hours,
    });
    const cost = typeof held.costUsd === 'number' ? describeUsd(held.costUsd) : 'no limit';
    await print(`cost  ${cost}\nhours ${held.hours ?? 'as configured'}`);
    return EXIT.answered;
  });
}
