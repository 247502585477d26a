import type { PolicyProvider } from '../../activities/dependencies';
import type { Complete } from '../../activities/models/model';
import { ConfigError } from '../../config/errors';
import type { Config } from '../../config/schema';
import type { ConductorCard, ModelCard } from '../../protocol/cards';
import type { ResolvedRun } from '../../protocol/run';
import type { Store } from '../../store/store';
import { type Manifest } from '../manifest';
import { createAskPolicy } from './ask';
import type { ServedPolicy } from './client';
import { asProviderError, PolicyError } from './errors';
import { readManifest, readServing } from './serving';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../checkpoint-ref';

/** Serves the checkpoints that a store knows as Conductors of runs. */
export function createPolicyProvider(store: Store, config: Pick<Config, 'conductor'>): PolicyProvider {
  return { bind: (run) => bindCheckpoint(store, config, run), complete: createCompletePolicy(store) };
}

/**
 * A run whose Conductor is a checkpoint, with the checkpoint that writes its plans from now to its end: the one that
 * `conductor.yaml` fixes, else the one that serves at this moment. How it is asked is what its manifest says, so that
 * it is served exactly as it was trained. Any other run stays as it is.
 *
 * @throws ConfigError where no checkpoint serves, or the store does not know it
 */
async function bindCheckpoint(
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

/**
 * Asks checkpoints through the very client that sampled their training: one plan, at the manifest's temperature. It
 * costs nothing that we could know of, and so is booked at 0.
 *
 * A reply that was cut at its longest is handed on like a whole one: as in training, the parser judges whether there is
 * a plan in it.
 */
function createCompletePolicy(store: Store): Complete {
  const ask = createAskPolicy();
  return async ({ card, messages, maxOutputTokens: maxTokens, seed, signal }) => {
    const question = { messages, n: 1, temperature: card.temperature ?? 0, maxTokens, seed };
    const { promptTokenIds, samples } = await ask(await servedPolicyOf(store, card), question, signal).catch(
      (error: unknown) => {
        throw error instanceof PolicyError ? asProviderError(error) : error;
      },
    );
    const usage = {
      inputTokens: promptTokenIds.length,
      outputTokens: samples.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0),
      cachedInputTokens: 0,
      reasoningTokens: 0,
    };
    const text = samples.map((sample) => sample.text).join('');
    return { text, finish: 'stop', refusal: null, usage, reportedNanoUsd: null, dropped: [] };
  };
}

/**
 * Where a card's checkpoint is served. Addresses and folders come from this process's store and card alone: a card
 * travels through Temporal, where others may write.
 */
export async function servedPolicyOf(store: Store, card: ModelCard | ConductorCard): Promise<ServedPolicy> {
  const checkpoint = 'checkpoint' in card && card.checkpoint ? readCheckpointId(card.checkpoint) : null;
  if (checkpoint === null) throw new ConfigError(`${card.model} names no checkpoint that could be asked`);
  const manifest = await known(store, checkpoint);
  return { ...manifest, servers: card.baseUrl === null ? manifest.servers : [card.baseUrl] };
}
