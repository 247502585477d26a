import { z } from 'zod';
import type { Store } from '../../store/store';
import { changeRecord, readRecord, RecordError, writeRecord } from '../../store/records';
import { promptSettingsSchema } from '../inputs';
import { checkpointId, type CheckpointRef, describePolicy, type PolicyRef } from '../names';
import { type Serving, servingSchema } from '../records';
import { checkpointsFolder, checkpointManifestKey, SERVING_KEY } from '../store-keys';
import { chatSchema, checkpointSchema } from '../trainer-contract';
import { POLICY_FAILURES, PolicyError } from './errors';

/** How to ask a checkpoint: as in its training. Kept with it, never changed; it overrides `conductor.yaml`. */
export const checkpointManifestSchema = z.strictObject({
  schema: z.literal(1),
  ...checkpointSchema.shape,
  model: z.string(),
  chat: z.union([z.literal('chatml'), chatSchema]),
  ...promptSettingsSchema.shape,
  maxSteps: z.int().positive(),
  trainedAtTemperature: z.number(),
  temperature: z.number(),
  servers: z.tuple([z.string()], z.string()),
  createdAt: z.string(),
});
export type CheckpointManifest = z.infer<typeof checkpointManifestSchema>;

const REMEMBERED = 20;

const NOTHING_YET: Serving = {
  schema: 1,
  serving: null,
  before: [],
  pinned: false,
  reason: 'no checkpoint was promoted yet',
  at: new Date(0).toISOString(),
};

interface Decision {
  readonly sentence: string;
  /** Fields to change; absent if nothing changes. */
  readonly next?: Partial<Serving>;
  /** Nothing was changed, because another process has since changed what serves. */
  readonly overtaken?: boolean;
}

export interface ServingChange extends Required<Omit<Decision, 'next'>> {
  readonly changed: boolean;
  readonly serving: Serving;
}

/** Reads what serves. @throws RecordError for an unreadable record, which must not count as "none serves" */
export async function readServing(store: Store): Promise<Serving> {
  return (await readRecord(store, SERVING_KEY, servingSchema)) ?? NOTHING_YET;
}

/**
 * Makes a checkpoint serve from now on; runs under way keep theirs. A pin stops a gate, but never a person.
 * @param how `over` is the baseline it was compared with: any other serving checkpoint is not replaced
 */
export async function promote(
  store: Store,
  checkpoint: CheckpointRef,
  how: { readonly reason: string; readonly by: 'person' | 'gate'; readonly over?: PolicyRef },
): Promise<ServingChange> {
  const { reason, by, over } = how;
  await readCheckpointManifest(store, checkpoint);
  const id = checkpointId(checkpoint);
  return change(store, (now) => {
    const { serving } = now;
    if (serving !== null && checkpointId(serving) === id) return { sentence: `${id} serves already` };
    if (over !== undefined && serving !== null && checkpointId(serving) !== describePolicy(over)) {
      const sentence = `meanwhile ${nameOfCheckpoint(serving)} serves, which it was not compared with`;
      return { sentence, overtaken: true };
    }
    if (by === 'gate' && now.pinned) {
      const pinnedNow = `${nameOfCheckpoint(serving)} is pinned ("train pin --off" ends that)`;
      return { sentence: `${id} was not promoted: ${pinnedNow}` };
    }
    const before = [...now.before, serving].slice(-REMEMBERED);
    return { sentence: `${id} serves now`, next: { serving: checkpoint, before, reason } };
  });
}

/** Undoes the last promotion, unless something other than `of` serves; a second call goes back one further. */
export function rollback(store: Store, reason: string, of?: PolicyRef): Promise<ServingChange> {
  return change(store, (now) => {
    if (of !== undefined && nameOfCheckpoint(now.serving) !== describePolicy(of)) {
      return { sentence: `meanwhile ${nameOfCheckpoint(now.serving)} serves`, overtaken: true };
    }
    const earlier = now.before.at(-1);
    if (earlier === undefined) return { sentence: 'there is no promotion to take back' };
    const sentence =
      earlier === null
        ? `${nameOfCheckpoint(now.serving)} serves no longer, and no checkpoint does now`
        : `${nameOfCheckpoint(earlier)} serves again, and ${nameOfCheckpoint(now.serving)} no longer`;
    return { sentence, next: { serving: earlier, before: now.before.slice(0, -1), reason } };
  });
}

export function pin(store: Store, pinned: boolean, reason: string): Promise<ServingChange> {
  return change(store, (now) => {
    const state = pinned ? 'pinned' : 'not pinned';
    if (now.pinned === pinned) return { sentence: `${nameOfCheckpoint(now.serving)} is ${state} already` };
    return { sentence: `${nameOfCheckpoint(now.serving)} is ${state} now`, next: { pinned, reason } };
  });
}

/** Applies a decision. If two processes decide at once, one succeeds; the other is told that its basis was stale. */
async function change(store: Store, decide: (now: Serving) => Decision): Promise<ServingChange> {
  let isFirst = true;
  const work = (record: Serving | null): readonly [Serving | null, ServingChange] => {
    const now = record ?? NOTHING_YET;
    const decided: Decision = isFirst ? decide(now) : { sentence: describeRace(now), overtaken: true };
    isFirst = false;
    const { next, sentence, overtaken = false } = decided;
    if (next === undefined) return [null, { changed: false, overtaken, serving: now, sentence }];
    const serving = { ...now, ...next, at: new Date().toISOString() };
    return [serving, { changed: true, overtaken, serving, sentence }];
  };
  return changeRecord(store, SERVING_KEY, servingSchema, work);
}

const describeRace = ({ reason, serving }: Serving): string =>
  `nothing was changed: at this moment another process did so (${reason}), and ${nameOfCheckpoint(serving)} serves; ` +
  'see "temporal-conductor train status", and repeat the command if you still want it';

const nameOfCheckpoint = (checkpoint: CheckpointRef | null): string =>
  describePolicy(checkpoint ?? 'prompted');

export function writeManifest(store: Store, manifest: CheckpointManifest): Promise<void> {
  return writeRecord(store, checkpointManifestKey(manifest.trainRun, manifest.name), manifest);
}

/** Lists the names of a training run's checkpoints that have a manifest. */
export async function listCheckpoints(store: Store, trainRun: string): Promise<string[]> {
  const folder = checkpointsFolder(trainRun);
  return (await store.list(folder)).map((key) => key.slice(folder.length).replace(/\.json$/, ''));
}

/** @throws PolicyError `Policy.NoManifest` if there is none, or this version cannot read it */
export async function readCheckpointManifest(
  store: Store,
  checkpoint: CheckpointRef,
): Promise<CheckpointManifest> {
  const key = checkpointManifestKey(checkpoint.trainRun, checkpoint.name);
  const manifest = await readRecord(store, key, checkpointManifestSchema).catch((error: unknown) => {
    throw error instanceof RecordError ? noManifest(checkpoint, error.message) : error;
  });
  if (manifest === null) throw noManifest(checkpoint, `it is not in the store ${store.url}`);
  return manifest;
}

function noManifest(checkpoint: CheckpointRef, why: string): PolicyError {
  const happened = `checkpoint ${checkpointId(checkpoint)} has no manifest that can be used: ${why}`;
  const remedy =
    'Name a checkpoint that was trained with this store: "temporal-conductor train list" shows them.';
  return new PolicyError(POLICY_FAILURES.noManifest, happened, remedy);
}
