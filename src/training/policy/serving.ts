import { z } from 'zod';
import type { Store } from '../../store/store';
import { changeRecord, readRecord, RecordError, writeRecord } from '../activities/records';
import { checkpointId, type CheckpointRef, describePolicy, type PolicyRef } from '../names';
import { manifestKey, SERVING_KEY } from '../store-keys';
import { checkpointSchema } from '../trainer-contract';
import { POLICY_FAILURES, PolicyError } from './errors';

/**
 * How a checkpoint must be asked, so that it is served exactly as it was trained. Kept beside it in the store, never
 * changed; whatever `conductor.yaml` says of prompts, the manifest decides.
 */
export const manifestSchema = z.strictObject({
  schema: z.literal(1),
  ...checkpointSchema.shape,
  model: z.string(),
  /** `compact`: question and team only, for a tiny policy that knows the rules by training. */
  prompt: z.enum(['full', 'compact']),
  chat: z.literal('chatml'),
  describe: z.enum(['ordinals', 'names', 'notes']),
  maxSteps: z.int().positive(),
  trainedAtTemperature: z.number(),
  temperature: z.number(),
  maxPromptTokens: z.int().positive(),
  maxOutputTokens: z.int().positive(),
  servers: z.tuple([z.string()], z.string()),
  createdAt: z.string(),
});
export type Manifest = z.infer<typeof manifestSchema>;

const pointerSchema = z.strictObject({ trainRun: z.string(), name: z.string() });

/** Which checkpoint answers. One object in the store, replaced as a whole. */
export const servingSchema = z.strictObject({
  schema: z.literal(1),
  serving: pointerSchema.nullable(),
  /** Policies that `rollback` returns to; newest last. */
  before: z.array(pointerSchema.nullable()),
  /** No gate replaces it while this is true. */
  pinned: z.boolean(),
  reason: z.string(),
  at: z.string(),
});
export type Serving = z.infer<typeof servingSchema>;

const REMEMBERED = 20;

const NOTHING_YET: Serving = {
  schema: 1,
  serving: null,
  before: [],
  pinned: false,
  reason: 'no checkpoint was promoted yet',
  at: new Date(0).toISOString(),
};

export interface ServingChange {
  readonly changed: boolean;
  /** Nothing was changed, because another process has something else serve meanwhile. */
  readonly overtaken: boolean;
  readonly serving: Serving;
  readonly sentence: string;
}

/** A pointer that cannot be read is an error: it must not be taken for "none serves". */
export async function readServing(store: Store): Promise<Serving> {
  return (await readRecord(store, SERVING_KEY, servingSchema)) ?? NOTHING_YET;
}

interface Promotion {
  readonly reason: string;
  readonly by: 'person' | 'gate';
  /** Policy that the checkpoint was compared with: another one that serves is not replaced. */
  readonly over?: PolicyRef;
}

/**
 * Has a checkpoint that this store knows serve from now on; runs that are under way keep the one that they began with. A
 * gate is refused while serving is pinned, a person never.
 */
export async function promote(
  store: Store,
  checkpoint: CheckpointRef,
  { reason, by, over }: Promotion,
): Promise<ServingChange> {
  await readManifest(store, checkpoint);
  const id = checkpointId(checkpoint);
  return change(store, (now) => {
    const { serving } = now;
    if (serving !== null && checkpointId(serving) === id) return unchanged(now, `${id} serves already`);
    if (over !== undefined && serving !== null && checkpointId(serving) !== describePolicy(over)) {
      return overtaken(now, `meanwhile ${nameOf(serving)} serves, which it was not compared with`);
    }
    if (by === 'gate' && now.pinned) {
      const pinnedNow = `${nameOf(serving)} is pinned ("train pin --off" ends that)`;
      return unchanged(now, `${id} was not promoted: ${pinnedNow}`);
    }
    const before = [...now.before, serving].slice(-REMEMBERED);
    return changed({ ...now, serving: checkpoint, before, reason }, `${id} serves now`);
  });
}

/** Takes the last promotion back, unless another one than `of` serves; a second call goes one further. */
export function rollback(store: Store, reason: string, of?: PolicyRef): Promise<ServingChange> {
  return change(store, (now) => {
    if (of !== undefined && nameOf(now.serving) !== describePolicy(of)) {
      return overtaken(now, `meanwhile ${nameOf(now.serving)} serves`);
    }
    const earlier = now.before.at(-1);
    if (earlier === undefined) return unchanged(now, 'there is no promotion to take back');
    const sentence =
      earlier === null
        ? `${nameOf(now.serving)} serves no longer, and no checkpoint does now`
        : `${nameOf(earlier)} serves again, and ${nameOf(now.serving)} no longer`;
    return changed({ ...now, serving: earlier, before: now.before.slice(0, -1), reason }, sentence);
  });
}

export function pin(store: Store, pinned: boolean, reason: string): Promise<ServingChange> {
  return change(store, (now) => {
    const state = pinned ? 'pinned' : 'not pinned';
    if (now.pinned === pinned) return unchanged(now, `${nameOf(now.serving)} is ${state} already`);
    return changed({ ...now, pinned, reason }, `${nameOf(now.serving)} is ${state} now`);
  });
}

/** Lets one of two deciders at the same moment succeed. The other is told: it decided about the past. */
async function change(store: Store, decide: (now: Serving) => ServingChange): Promise<ServingChange> {
  let decided = unchanged(NOTHING_YET, '');
  let attempts = 0;
  await changeRecord(store, SERVING_KEY, servingSchema, (record) => {
    const now = record ?? NOTHING_YET;
    attempts += 1;
    decided =
      attempts === 1
        ? decide(now)
        : overtaken(
            now,
            `nothing was changed: at this moment another process did so (${now.reason}), and ${nameOf(now.serving)} ` +
              'serves; see "temporal-conductor train status", and repeat the command if you still want it',
          );
    return decided.changed ? decided.serving : null;
  });
  return decided;
}

const unchanged = (serving: Serving, sentence: string, isOvertaken = false): ServingChange => {
  return { changed: false, overtaken: isOvertaken, serving, sentence };
};

const overtaken = (serving: Serving, sentence: string): ServingChange => unchanged(serving, sentence, true);

const changed = (next: Serving, sentence: string): ServingChange => {
  return { changed: true, overtaken: false, serving: { ...next, at: new Date().toISOString() }, sentence };
};

const nameOf = (checkpoint: CheckpointRef | null): string => describePolicy(checkpoint ?? 'prompted');

export async function writeManifest(store: Store, manifest: Manifest): Promise<void> {
  await writeRecord(store, manifestKey(manifest.trainRun, manifest.name), manifest);
}

/** @throws PolicyError `Policy.NoManifest` where there is none, or none that this version can read */
export async function readManifest(store: Store, checkpoint: CheckpointRef): Promise<Manifest> {
  const key = manifestKey(checkpoint.trainRun, checkpoint.name);
  const manifest = await readRecord(store, key, manifestSchema).catch((error: unknown) => {
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
