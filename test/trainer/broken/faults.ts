import { execFile } from 'node:child_process';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { childrenOf } from '../../../research/support/surroundings';
import { weightsKey } from '../../../src/training/store-keys';
import { readCheckpointManifest, writeManifest } from '../../../src/training/policy/serving';
import type { TrainingStage } from '../support/training-stage';
import type { Spoil, SpoilingProxy } from './spoiling-proxy';
import type { CheckpointRef } from '../../../src/training/names';

/** The parts of a night's surroundings that faults can break. */
export interface Surroundings {
  readonly stage: TrainingStage;
  /** Proxy between nights and the policy server. */
  readonly proxy: SpoilingProxy;
  /** Serving checkpoint, from which each night continues. */
  readonly served: CheckpointRef;
}

/** A fault that lasts until it is mended. */
export interface Fault {
  readonly what: string;
  /** Type of the night's failure. */
  readonly type: string;
  /** Pattern of the night's error message. */
  readonly says: RegExp;
  /** Causes the fault and returns a function that mends it. */
  readonly inflict: (surroundings: Surroundings) => Promise<() => Promise<void>>;
}

/**
 * Faults in the order of a night's steps: the samples of a failed night are reused by the next nights, unless they are
 * bad themselves.
 */
export const FAULTS: readonly Fault[] = [
  {
    what: 'log-probabilities that are no numbers',
    type: 'Policy.BadReply',
    says: /an answer of the policy server http:\S+ cannot be read: the reply/,
    inflict: spoilt((body) => body.replace(/("token_logprobs": ?\[)[^,\]]+/, '$1NaN')),
  },
  {
    what: 'fewer log-probabilities than tokens',
    type: 'Policy.BadReply',
    says: /cannot be read: the reply\.choices\.0\.logprobs\.token_logprobs: expected a log-probability for each token/,
    inflict: spoilt((body) => body.replace(/("token_logprobs": ?\[)[^,]+, ?/, '$1')),
  },
  {
    what: 'a policy server that is gone before a night',
    type: 'Policy.Unavailable',
    says: /the policy server gave no answer to http:/,
    inflict: goneAt('/tokenize', '/v1/completions'),
  },
  {
    what: 'token ids beyond the vocabulary',
    type: 'Policy.BadReply',
    says: /holds tokens beyond the \d+ that broken-\d{6} knows/,
    inflict: spoilt((body) => body.replace(/("token_ids": ?\[)\d+/g, '$199999')),
  },
  {
    what: 'a batch that was sampled with another tokenizer',
    type: 'Trainer.BatchInvalid',
    says: /tokenizerSha256: is 'f{64}', but this update is for/,
    inflict: async ({ stage, served }: Surroundings) => {
      const manifest = await readCheckpointManifest(stage.store, served);
      await writeManifest(stage.store, { ...manifest, tokenizerSha256: 'f'.repeat(64) });
      return () => writeManifest(stage.store, manifest);
    },
  },
  {
    what: 'a full disk',
    type: 'Trainer.DiskFull',
    says: /The disk of \S+ was full while \d{6} was written/,
    inflict: async ({ stage }: Surroundings) => {
      await limitFiles(stage, '50000:');
      return () => limitFiles(stage, 'unlimited:');
    },
  },
  {
    what: 'weights that cannot be read',
    type: 'Trainer.ModelInvalid',
    says: /The model in \S+000001\/model cannot be loaded/,
    inflict: async ({ stage, served }: Surroundings) => {
      const path = join(stage.checkpoints, served.trainRun, served.name, 'model/model.safetensors');
      const whole = await readFile(path);
      await replace(path, whole.subarray(0, 100));
      return () => replace(path, whole);
    },
  },
  {
    what: 'a checkpoint whose record cannot be read',
    type: 'Trainer.CheckpointUnreadable',
    says: /training\/broken\/weights\/000001\.json in \S+ cannot be read/,
    inflict: async ({ stage, served }: Surroundings) => {
      const key = weightsKey(served.trainRun, served.name);
      const whole = (await stage.artifacts.read(key)) ?? Buffer.alloc(0);
      await stage.artifacts.write(key, whole.subarray(0, 1));
      return () => stage.artifacts.write(key, whole);
    },
  },
  {
    what: 'a policy server that is gone when it shall load what was learned',
    type: 'Trainer.ServerUnavailable',
    says: /The policy server http:\S+ cannot be reached/,
    inflict: goneAt('/v1/load_lora_adapter'),
  },
];

/** Returns a fault that spoils the policy server's responses to requests for plans. */
function spoilt(spoil: Spoil): Fault['inflict'] {
  return ({ proxy }) => {
    proxy.spoil('/v1/completions', spoil);
    return Promise.resolve(() => proxy.mend());
  };
}

/** Returns a fault that makes the policy server unreachable from the next request to one of these routes on. */
function goneAt(...routes: readonly string[]): Fault['inflict'] {
  return ({ proxy }) => {
    for (const route of routes) proxy.vanishAt(route);
    return Promise.resolve(() => proxy.mend());
  };
}

/** Replaces the file by a new one, so that a process with the old one open, such as the policy server, keeps it. */
async function replace(path: string, bytes: Uint8Array): Promise<void> {
  await writeFile(`${path}.new`, bytes);
  await rename(`${path}.new`, path);
}

/** Limits the size of files that the trainer's steps may write, like a full disk; the fork server passes it on. */
async function limitFiles({ trainer }: TrainingStage, bytes: string): Promise<void> {
  for (const child of childrenOf(trainer.pid)) {
    await promisify(execFile)('prlimit', ['--pid', `${child}`, `--fsize=${bytes}`]);
  }
}
