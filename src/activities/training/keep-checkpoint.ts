import { writeManifest } from '../../policy/manifests';
import { readServing } from '../../policy/serving';
import type { Store } from '../../store/store';
import type { KeepCheckpointRequest, KeptCheckpoint } from '../../training/activities';
import type { Manifest } from '../../training/manifest';

/**
 * Activity `conductor.train.keepCheckpoint`: keeps how a checkpoint must be asked, which is how its plans were sampled
 * while it was trained. From here on it can be sampled and served. What is served beside it is told, so that a policy
 * server can be made to forget all else.
 */
export async function keepCheckpoint(
  { store }: { readonly store: Store },
  { checkpoint, model, settings }: KeepCheckpointRequest,
): Promise<KeptCheckpoint> {
  const { policy, run } = settings;
  const manifest: Manifest = {
    schema: 1,
    ...checkpoint,
    model,
    prompt: policy.prompt,
    chat: 'chatml',
    describe: policy.describe,
    maxSteps: run.limits.steps,
    trainedAtTemperature: policy.temperature,
    temperature: policy.servingTemperature,
    maxPromptTokens: policy.maxPromptTokens,
    maxOutputTokens: policy.maxOutputTokens,
    servers: [policy.baseUrl],
    createdAt: new Date().toISOString(),
  };
  await writeManifest(store, manifest);
  const { serving, before } = await readServing(store);
  return { served: [serving, before.at(-1) ?? null].filter((each) => each !== null) };
}
