import { ApplicationFailure } from '@temporalio/activity';
import type { z } from 'zod';
import { ConfigError, explainFirst } from '../config/errors';
import { conductorsOf, resolveBaselines } from '../config/cards';
import { resolveRun } from '../config/resolve-run';
import type { ModelProvider, ResolvedRun } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import type { Dependencies } from './send-request';

/** Reads a workflow's input, which any client may have written. @throws ApplicationFailure `Solve.BadInput` */
export function checkShape<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  what = 'the input',
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const problem = `${what} cannot be used: ${explainFirst(error, value)}`;
  throw ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
}

/**
 * Local activity `conductor.checkRun`: checks that a run from a workflow's input, which any client may have written,
 * names only activities, workflows and queues that this process's own configuration names. Models are checked when
 * they are called, see `config/api-keys.ts`.
 * @throws ConfigError that names what is unknown
 */
export function checkRun(
  { config, policy }: Pick<Dependencies, 'config' | 'policy'>,
  run: ResolvedRun,
): void {
  const configured = resolveRun(config);
  const known = namedBy({ ...configured, workers: [...configured.workers, ...resolveBaselines(config)] });
  if (config.temporal.queuePerProvider) {
    known.push(...conductorsOf(config).map(([, { provider }]) => ownQueue(provider)));
    if (policy !== undefined) known.push(ownQueue('policy'));
  }
  const unknown = namedBy(run).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new ConfigError(
    `the run names ${unknown}, which is not in this worker process's configuration: give all worker processes the ` +
      'same configuration, then start the run again',
  );
}

function namedBy({ conductor, workers, queuePerProvider }: ResolvedRun): string[] {
  const models = [conductor, ...workers.filter((worker) => worker.kind === 'model')];
  const queues = models.map(({ provider }) => ownQueue(provider));
  const external = workers.flatMap((worker) =>
    worker.kind === 'model' ? [] : `the ${worker.kind} ${worker.type} on task queue ${worker.taskQueue}`,
  );
  return queuePerProvider ? [...external, ...queues] : external;
}

function ownQueue(provider: ModelProvider): string {
  return `a queue of its own for provider ${provider}`;
}
