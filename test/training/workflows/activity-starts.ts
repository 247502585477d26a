import type { Context } from '@temporalio/activity';
import type { WorkerInterceptors } from '@temporalio/worker';

/** One activity of a worker, from its start on. */
export interface ActivityStart {
  /** Type of its workflow. */
  readonly of: string;
  readonly type: string;
  readonly taskQueue: string;
  /** How many others of its queue were under way. */
  readonly beside: number;
}

/** Sees the activities of workers start, in their order, and may hold each back. */
export class ActivityStarts {
  readonly seen: ActivityStart[] = [];
  private readonly underWay = new Map<string, number>();

  /** @param hold called when an activity has begun, which goes on when the promise is fulfilled */
  constructor(private readonly hold: (start: ActivityStart) => Promise<void> = () => Promise.resolve()) {}

  get interceptors(): WorkerInterceptors {
    return {
      activity: [
        (context) => ({ inbound: { execute: (input, next) => this.execute(context, () => next(input)) } }),
      ],
    };
  }

  private async execute({ info }: Context, work: () => Promise<unknown>): Promise<unknown> {
    const { taskQueue } = info;
    const beside = this.underWay.get(taskQueue) ?? 0;
    const start = { of: info.workflowType ?? '', type: info.activityType, taskQueue, beside };
    this.seen.push(start);
    this.underWay.set(taskQueue, beside + 1);
    try {
      await this.hold(start);
      return await work();
    } finally {
      this.underWay.set(taskQueue, (this.underWay.get(taskQueue) ?? 1) - 1);
    }
  }
}
