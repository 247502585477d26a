import { resolveRun as resolveConfigured } from '../config/resolve-run';
import type { ResolveRunRequest, ResolveRunResult } from '../protocol/activities';
import { keepText, readText } from '../store/texts';
import type { Dependencies } from './dependencies';

/**
 * Local activity `conductor.resolveRun`: what holds for a run and everything below it, whatever changes on disk
 * meanwhile. The workflow cannot know it: a run may be started by any client, and none of them sees this configuration.
 *
 * @throws ConfigError for a pool, limits or a Conductor that the configuration cannot serve
 */
export async function resolveRun(
  { config, store, policy }: Dependencies,
  { question, pool, limits }: ResolveRunRequest,
): Promise<ResolveRunResult> {
  const run = resolveConfigured(config, { pool, limits });
  return {
    run: policy === undefined ? run : await policy.bind(run),
    question: await keepText(store, await readText(store, question)),
  };
}
