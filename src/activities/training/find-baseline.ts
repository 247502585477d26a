import type { Config } from '../../pool/config-schema';
import { readServing } from '../../policy/serving';
import type { Store } from '../../store/store';
import type { PolicyRef } from '../../training/evaluation';
import type { CheckpointRef } from '../../training/train-input';

/**
 * Activity `conductor.train.findBaseline`: whoever writes plans now, and must be beaten. That is the checkpoint that
 * serves; else the Conductor of the configuration; else, where that is to be a checkpoint and none serves yet, the one
 * that the night began with.
 */
export async function findBaseline(
  { store, config }: { readonly store: Store; readonly config: Pick<Config, 'conductor'> },
  begun: CheckpointRef,
): Promise<PolicyRef> {
  const { serving } = await readServing(store);
  if (serving !== null) return serving;
  return config.conductor.provider === 'policy' ? begun : 'prompted';
}
