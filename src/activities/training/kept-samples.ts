import { z } from 'zod';
import type { Store } from '../../store/store';

const tokenIds = z.array(z.int().nonnegative()).min(1);

const keptSamplesSchema = z.object({
  /** SHA-256 over all that decides what is sampled: another one under the same key is another group's. */
  identity: z.string(),
  /** `<training run>/<name>` of the checkpoint that was sampled. */
  checkpoint: z.string(),
  temperature: z.number(),
  tokenizerSha256: z.string(),
  rollouts: z.array(
    z.object({
      /** The reply without its end marker. */
      text: z.string(),
      promptTokenIds: tokenIds,
      /** The end of the reply included. */
      completionTokenIds: tokenIds,
      /** Of each completion token. */
      sampledLogprobs: z.array(z.number().max(0)),
      finishReason: z.enum(['stop', 'length']),
    }),
  ),
});

/** What a policy wrote for one group, token by token, in the order of its rollouts. */
export type KeptSamples = z.infer<typeof keptSamplesSchema>;

export async function keepSamples(store: Store, key: string, samples: KeptSamples): Promise<void> {
  await store.write(key, Buffer.from(JSON.stringify(samples)));
}

/**
 * Samples as they were kept; null where there are none.
 *
 * @throws Error where something else lies under the key
 */
export async function readSamples(store: Store, key: string): Promise<KeptSamples | null> {
  const bytes = await store.read(key);
  if (bytes === null) return null;
  const { success, data, error } = keptSamplesSchema.safeParse(JSON.parse(bytes.toString('utf8')));
  if (success) return data;
  throw new Error(
    `samples ${key} in the store ${store.url} cannot be read at ${error.issues[0]?.path.join('.') ?? ''}: they are ` +
      'of another version of this package, or were altered; remove them, and they are made again',
  );
}
