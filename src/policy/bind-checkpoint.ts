import type { ConductorCard } from '../pool/card';
import { ConfigError } from '../pool/config-error';
import type { Config } from '../pool/config-schema';
import type { ResolvedRun } from '../protocol/run';
import { readCheckpointId } from '../training/checkpoint-id';
import { checkpointId, type Manifest } from '../training/manifest';
import type { CheckpointRef } from '../training/train-input';
import type { Store } from '../store/store';
import { readManifest } from './manifests';
import { PolicyError } from './policy-error';
import type { ServedPolicy } from './served-policy';
import { readServing } from './serving';

/**
 * A run whose Conductor is a checkpoint, with the checkpoint that writes its plans from now to its end: the one that
 * `conductor.yaml` fixes, else the one that serves at this moment. How it is asked is what its manifest says, so that
 * it is served exactly as it was trained. Any other run stays as it is.
 *
 * @throws ConfigError where no checkpoint serves, or the store does not know it
 */
export async function bindCheckpoint(
  store: Store,
  { conductor: configured }: Pick<Config, 'conductor'>,
  run: ResolvedRun,
): Promise<ResolvedRun> {
  if (configured.provider !== 'policy') return run;
  const fixed = configured.checkpoint === undefined ? null : readCheckpointId(configured.checkpoint);
  const checkpoint = fixed ?? (await readServing(store)).serving;
  if (checkpoint === null) {
    throw new ConfigError(
      `conductor.provider is policy, and no checkpoint serves in the store ${store.url}: promote one with ` +
        '"temporal-conductor train promote", or train one with "temporal-conductor train start"',
    );
  }
  const manifest = await known(store, checkpoint);
  const limits = { ...run.limits, steps: Math.min(run.limits.steps, manifest.maxSteps) };
  return { ...run, conductor: cardOf(run.conductor, manifest), limits };
}

/**
 * Where a card's checkpoint is served; undefined for a card that is none. Addresses and folders come from this process's
 * store and card alone: a card travels through Temporal, where others may write.
 *
 * @throws ConfigError where the store does not know the checkpoint
 */
export async function servedPolicyOf(store: Store, card: ConductorCard): Promise<ServedPolicy | undefined> {
  const checkpoint = card.checkpoint === undefined ? null : readCheckpointId(card.checkpoint);
  if (checkpoint === null) return undefined;
  const manifest = await known(store, checkpoint);
  return { ...manifest, servers: card.baseUrl === null ? manifest.servers : [card.baseUrl] };
}

function cardOf(card: ConductorCard, manifest: Manifest): ConductorCard {
  const { model, temperature, maxOutputTokens, describe, prompt } = manifest;
  return {
    ...card,
    model,
    temperature,
    maxOutputTokens,
    describe,
    prompt,
    checkpoint: checkpointId(manifest),
  };
}

async function known(store: Store, checkpoint: CheckpointRef): Promise<Manifest> {
  try {
    return await readManifest(store, checkpoint);
  } catch (error) {
    throw error instanceof PolicyError ? new ConfigError(error.message, { cause: error }) : error;
  }
}
