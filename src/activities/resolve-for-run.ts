import { withCallerTools } from '../config/caller-tools';
import { ConfigError } from '../config/errors';
import { holdToRights, narrowRun, resolveRun } from '../config/resolve-run';
import type { Config } from '../config/schema';
import type { ConfigDigest, ResolveRunResult } from '../protocol/activity-contract';
import type { ResolvedRun } from '../protocol/cards';
import { type ConductorChange, type SolveInput, solveInputSchema } from '../protocol/input';
import { idOfStore, checkStoreId } from '../store/store-id';
import { checkRun, checkShape } from './check-run';
import { askedIn } from './keep-input';
import type { Dependencies, PolicyProvider } from './send-request';

/** Fixes the settings of a run and its child runs, whatever changes on disk; clients do not see the configuration. */
export async function resolveForRun(
  dependencies: Dependencies,
  digest: ConfigDigest,
  input: SolveInput,
): Promise<ResolveRunResult> {
  checkShape(solveInputSchema, input);
  const { pool, limits, run: given, conductor = {}, callerTools } = input;
  const { config, store, policy } = dependencies;
  if (given !== undefined) checkRun(dependencies, given);
  const known =
    given === undefined
      ? resolveRun(config, { pool, limits, conductor })
      : withNamed(narrowRun(given, { pool, limits }), config, conductor);
  const run = withCallerTools(known, config, callerTools);
  await checkStoreId(store, given?.storeId, 'worker');
  // A store that is away names no id now, and needs none: nothing is written to it either.
  const storeId = await idOfStore(store, 'make').catch(() => null);
  return {
    run: {
      ...holdToRights(await bindConductor(run, conductor, policy), input),
      ...(storeId !== null && { storeId }),
    },
    ...(given === undefined && { config: digest }),
    ...(await askedIn(store, input)),
  };
}

function withNamed(run: ResolvedRun, config: Config, conductor: ConductorChange): ResolvedRun {
  return conductor.name === undefined
    ? run
    : { ...run, conductor: resolveRun(config, { conductor }).conductor };
}

async function bindConductor(
  run: ResolvedRun,
  { checkpoint, examples, access }: ConductorChange,
  policy: PolicyProvider | undefined,
): Promise<ResolvedRun> {
  if (checkpoint !== undefined && policy === undefined) {
    throw new ConfigError(
      `the run asks for the checkpoint ${checkpoint}, and ConductorPlugin serves no checkpoints: mount TrainingPlugin of ` +
        'temporal-conductor/training instead, or add a section "training:" to the configuration of the command line',
    );
  }
  const named = policy === undefined ? run : await policy.bind(run, checkpoint);
  const bound = access === undefined ? named : { ...named, conductor: { ...named.conductor, access } };
  if (examples === undefined) return bound;
  if (bound.conductor.prompt !== 'compact') return { ...bound, conductor: { ...bound.conductor, examples } };
  throw new ConfigError(
    `the run asks for other examples, and the prompt of checkpoint ${bound.conductor.checkpoint ?? ''} is compact: it shows none`,
  );
}
