import type { Store } from '../../store/store';
import { changeRecord, readRecord, RecordError, type RecordKind, writeRecord } from '../activities/records';
import { checkpointId, type CheckpointRef, describePolicy, type PolicyRef } from '../checkpoint-ref';
import { manifestKey, SERVING_KEY } from '../store-keys';
import { type Manifest, manifestSchema, type Serving, servingSchema } from '../manifest';
import { POLICY_FAILURES, PolicyError } from './errors';

/** How many promotions can be taken back, one after the other. */
const REMEMBERED = 20;

const NOTHING_YET: Serving = {
  schema: 1,
  serving: null,
  before: [],
  pinned: false,
  reason: 'no checkpoint was promoted yet',
  at: new Date(0).toISOString(),
};

/** Which checkpoint serves now, and one sentence that says what was changed, or why nothing was. */
export interface ServingChange {
  readonly changed: boolean;
  /** Nothing was changed, because another process has something else serve meanwhile. */
  readonly overtaken: boolean;
  readonly serving: Serving;
  readonly sentence: string;
}

const POINTER: RecordKind<Serving> = {
  key: SERVING_KEY,
  schema: servingSchema,
  advice: '; remove it and promote a checkpoint again',
};

/** Which checkpoint answers now. A pointer that cannot be read is an error: it must not be taken for "none serves". */
export async function readServing(store: Store): Promise<Serving> {
  return (await readRecord(store, POINTER.key, POINTER.schema, POINTER.advice)) ?? NOTHING_YET;
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
      return unchanged(
        now,
        `${id} was not promoted: ${nameOf(serving)} is pinned ("train pin --off" ends that)`,
      );
    }
    const before = [...now.before, serving].slice(-REMEMBERED);
    return changed({ ...now, serving: checkpoint, before, reason }, `${id} serves now`);
  });
}

/**
 * Takes the last promotion back; the one that is taken back is not kept, so that a second call goes one further.
 *
 * @param of what is to be taken back: where another one serves, nothing is
 */
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

/** Keeps gates from changing what serves, or lets them again. */
export function pin(store: Store, pinned: boolean, reason: string): Promise<ServingChange> {
  return change(store, (now) => {
    const state = pinned ? 'pinned' : 'not pinned';
    if (now.pinned === pinned) return unchanged(now, `${nameOf(now.serving)} is ${state} already`);
    return changed({ ...now, pinned, reason }, `${nameOf(now.serving)} is ${state} now`);
  });
}

/**
 * A person and a gate may do so at once, in two processes. The one that comes second is told: it decided about something
 * else than what serves by then. A pin holds for whatever does.
 */
async function change(store: Store, decide: (now: Serving) => ServingChange): Promise<ServingChange> {
  let seen: Serving | undefined;
  let decided = unchanged(NOTHING_YET, '');
  await changeRecord(store, POINTER, (record) => {
    const now = record ?? NOTHING_YET;
    decided = decide(now);
    if (seen !== undefined && isOther(seen, now) && isOther(now, decided.serving)) {
      const sentence =
        `nothing was changed: at this moment another process had ${nameOf(now.serving)} serve instead of ` +
        `${nameOf(seen.serving)} (${now.reason}); see "temporal-conductor train status", and say it again if you still want it`;
      decided = overtaken(now, sentence);
    }
    seen ??= now;
    return decided.changed ? decided.serving : null;
  });
  return decided;
}

function isOther(one: Serving, other: Serving): boolean {
  return nameOf(one.serving) !== nameOf(other.serving);
}

function changed(next: Serving, sentence: string): ServingChange {
  return { changed: true, overtaken: false, serving: { ...next, at: new Date().toISOString() }, sentence };
}

function unchanged(serving: Serving, sentence: string): ServingChange {
  return { changed: false, overtaken: false, serving, sentence };
}

function overtaken(serving: Serving, sentence: string): ServingChange {
  return { changed: false, overtaken: true, serving, sentence };
}

function nameOf(checkpoint: CheckpointRef | null): string {
  return describePolicy(checkpoint ?? 'prompted');
}

/** Keeps how a checkpoint must be asked, where every worker finds it. */
export async function writeManifest(store: Store, manifest: Manifest): Promise<void> {
  await writeRecord(store, manifestKey(manifest.trainRun, manifest.name), manifest);
}

/** @throws PolicyError `Policy.NoManifest` where there is none, or none that this version can read */
export async function readManifest(store: Store, checkpoint: CheckpointRef): Promise<Manifest> {
  const key = manifestKey(checkpoint.trainRun, checkpoint.name);
  const id = checkpointId(checkpoint);
  const manifest = await readRecord(store, key, manifestSchema).catch((error: unknown) => {
    if (!(error instanceof RecordError)) throw error;
    const happened = `checkpoint ${id} has no usable manifest: ${error.message}`;
    throw new PolicyError(POLICY_FAILURES.noManifest, happened, 'Use the version that wrote it.');
  });
  if (manifest !== null) return manifest;
  throw new PolicyError(
    POLICY_FAILURES.noManifest,
    `checkpoint ${id} has no manifest in the store ${store.url}`,
    'Name a checkpoint that was trained with this store: "temporal-conductor train list" shows them.',
  );
}
