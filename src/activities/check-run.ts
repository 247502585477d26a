import { ApplicationFailure } from '@temporalio/activity';
import type { z } from 'zod';
import { ConfigError, explainIssue } from '../config/errors';
import { conductorsOf, resolveBaselines } from '../config/cards';
import { resolveRun } from '../config/resolve-run';
import type { ModelProvider, ResolvedRun } from '../protocol/cards';
import { FAILURES } from '../protocol/failures';
import type { Dependencies } from './model-call';

/** Refuses, with `Solve.BadInput`, what no run can be made of in a workflow's input, which any client may have written. */
export function checkShape(schema: z.ZodType, value: unknown): void {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined) return;
  const problem = `the input cannot be used: ${explainIssue(issue, value)}`;
  throw ApplicationFailure.nonRetryable(problem, FAILURES.badInput);
}

/**
 * Local activity `conductor.checkRun`: whether a run that came with a workflow's input names only what this process's own
 * configuration names. Any client may write such an input; what it says of models is checked where they are asked, see
 * `config/api-keys.ts`, and the activities, workflows and queues that a workflow calls by itself are checked here.
 * @throws ConfigError that says what is unknown
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
    `the run names ${unknown}, which the configuration of this worker process does not: give all worker processes the ` +
      'same configuration, and start the run again',
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
