import { writeManifest } from '../../policy/manifests';
import type { Store } from '../../store/store';
import type { KeepCheckpointRequest } from '../../training/activities';
import type { Manifest } from '../../training/manifest';

/**
 * Activity `conductor.train.keepCheckpoint`: keeps how a checkpoint must be asked, which is how its plans were sampled
 * while it was trained. From here on it can be sampled and served.
 */
export async function keepCheckpoint(
  { store }: { readonly store: Store },
  { checkpoint, model, settings }: KeepCheckpointRequest,
): Promise<Manifest> {
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
  return manifest;
}
