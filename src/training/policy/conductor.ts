import type { PolicyProvider } from '../../activities';
import type { Complete } from '../../activities/models';
import { resolveConductor } from '../../config/cards';
import { ConfigError } from '../../config/errors';
import { quoteBriefly } from '../../plan/plan-error';
import type { CalledCard } from '../../protocol/cards';
import type { Store } from '../../store/store';
import { checkpointId, type CheckpointRef, readCheckpointId } from '../names';
import { askPolicy, type ServedPolicy } from './client';
import { PolicyError } from './errors';
import { type CheckpointManifest, readCheckpointManifest, readServing } from './serving';

/**
 * Serves checkpoints as Conductors. A run's checkpoint is fixed when the run begins: the one that it names, else the
 * configured one, else the serving one. The checkpoint's manifest says how to ask it.
 */
export function createPolicyProvider(store: Store): PolicyProvider {
  return {
    bind: async (run, named) => {
      const isPrompted = run.conductor.provider !== 'policy';
      if (isPrompted && named === undefined) return run;
      const manifest = await findManifest(store, named ?? run.conductor.checkpoint);
      const card = isPrompted ? resolveConductor(POLICY, new Date()) : run.conductor;
      const { model, temperature, maxOutputTokens, describe, access, subtasks, prompt, examples } = manifest;
      const asked = { model, temperature, maxOutputTokens, describe, access, subtasks, prompt, examples };
      return {
        ...run,
        conductor: { ...card, ...asked, checkpoint: checkpointId(manifest) },
        // Training never lists the policy as a member of its own team.
        recursion: WITHOUT_OWN_STEPS[run.recursion],
        limits: { ...run.limits, steps: Math.min(run.limits.steps, manifest.maxSteps) },
      };
    },
    complete: completionsOf(store),
  };
}

const WITHOUT_OWN_STEPS = { review: 'review', worker: 'never', both: 'review', never: 'never' } as const;

const POLICY = { provider: 'policy', timeout: '10m' } as const;

async function findManifest(store: Store, fixed: string | undefined): Promise<CheckpointManifest> {
  const named = fixed === undefined ? null : readCheckpointId(fixed);
  if (fixed !== undefined && named === null) {
    throw new ConfigError(`${quoteBriefly(fixed)} names no checkpoint: expected <training run>/<name>`);
  }
  const checkpoint = named ?? (await readServing(store)).serving;
  if (checkpoint !== null) return manifestOf(store, checkpoint);
  throw new ConfigError(
    `conductor.provider is policy, and no checkpoint serves in the store ${store.url}: promote one with ` +
      '"temporal-conductor train promote", or train one with "temporal-conductor train start"',
  );
}

async function manifestOf(store: Store, checkpoint: CheckpointRef): Promise<CheckpointManifest> {
  try {
    return await readCheckpointManifest(store, checkpoint);
  } catch (error) {
    throw error instanceof PolicyError ? new ConfigError(error.message, { cause: error }) : error;
  }
}

/** Asks through the same client as training, at no cost. A reply cut at the token limit is left to the parser. */
function completionsOf(store: Store): Complete {
  return async ({ card, messages, maxOutputTokens: maxTokens, seed, signal }) => {
    const policy = await servedPolicyOf(store, card);
    const question = { messages, n: 1, temperature: card.temperature ?? 0, maxTokens, seed };
    const { promptTokenIds, samples } = await askPolicy(policy, question, signal);
    const usage = {
      inputTokens: promptTokenIds.length,
      outputTokens: samples.reduce((sum, { completionTokenIds }) => sum + completionTokenIds.length, 0),
      cachedInputTokens: 0,
      reasoningTokens: samples.reduce((sum, { thoughtTokens = 0 }) => sum + thoughtTokens, 0),
    };
    const text = samples.map((sample) => sample.text).join('');
    return { text, finish: 'stop', refusal: null, usage, reportedNanoUsd: null, dropped: [] };
  };
}

/** Looks up the card's checkpoint in this process's store, since any client may have written the card. */
export async function servedPolicyOf(store: Store, card: CalledCard): Promise<ServedPolicy> {
  const checkpoint = 'checkpoint' in card && card.checkpoint ? readCheckpointId(card.checkpoint) : null;
  if (checkpoint === null)
    throw new ConfigError(
      `${card.model} names no checkpoint that could be asked: expected <training run>/<name>, as "temporal-conductor train list" shows them`,
    );
  const manifest = await manifestOf(store, checkpoint);
  return { ...manifest, baseUrl: card.baseUrl ?? manifest.servers[0] };
}
