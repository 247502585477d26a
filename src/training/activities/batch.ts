import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { Store } from '../../store/store';
import type { SealedFiles } from '../artifacts';
import { checkpointId, sixDigits } from '../ids';
import type { WriteBatchRequest } from '../contract';
import { batchKey, canaryBatchKey } from '../store-keys';
import type { GroupRecord } from '../records';
import {
  type BatchHeader,
  batchHeaderSchema,
  type BatchRow,
  batchRowSchema,
  type UpdateRequest,
} from '../trainer-contract';
import { readGroup, readRecord } from './records';

const compress = promisify(gzip);

/**
 * Activity `conductor.train.writeBatch`: joins what the policy wrote, token by token, with its rewards into the batch of
 * one update: gzip JSON lines, a header and the rollouts in the order of their ids. Equal groups give equal bytes.
 *
 * @throws ApplicationFailure `Trainer.BatchInvalid`, not retryable, for samples of another checkpoint or temperature
 */
export async function writeBatch(
  { store, sealed }: { readonly store: Store; readonly sealed: SealedFiles },
  request: WriteBatchRequest,
): Promise<UpdateRequest['batch'] & { readonly rollouts: number }> {
  const parts = await Promise.all(request.groups.map((key) => partOf(store, key, request)));
  const rows = parts.flatMap(({ rows }) => rows).sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1));
  const header = headerOf(request, parts, rows.length);
  const lines = [header, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('');
  const bytes = await compress(lines);
  const { trainRun, cycle, canary } = request;
  const key = canary === undefined ? batchKey(trainRun, cycle) : canaryBatchKey(trainRun, canary);
  await sealed.write(key, bytes);
  return { key, sha256: createHash('sha256').update(bytes).digest('hex'), rollouts: rows.length };
}

async function partOf(
  store: Store,
  key: string,
  request: WriteBatchRequest,
): Promise<{ tokenizerSha256: string; rows: BatchRow[] }> {
  const group = await readGroup(store, key);
  const samples = group.samples === null ? null : await readSamples(store, group.samples);
  if (samples === null) throw invalid(key, 'there are no samples of it in the store; were they removed?');
  const { checkpoint, writer = checkpoint, temperature } = request;
  const policy = checkpointId(writer);
  if (samples.checkpoint !== policy || samples.temperature !== temperature) {
    const sampled = `its plans were sampled from ${samples.checkpoint} at temperature ${samples.temperature}`;
    throw invalid(key, `${sampled}, and the update is of ${policy} at ${temperature}`);
  }
  return { tokenizerSha256: samples.tokenizerSha256, rows: rowsOf(key, group, samples) };
}

function rowsOf(key: string, group: GroupRecord, samples: KeptSamples): BatchRow[] {
  const groupId = [sixDigits(group.cycle), sixDigits(group.draw), group.round].join('/');
  return group.rollouts.map(({ index, reward, tokens }) => {
    const sample = samples.rollouts[index];
    const lengths = [sample?.completionTokenIds.length, sample?.sampledLogprobs.length];
    if (lengths.some((length) => length !== tokens)) {
      const sampled = `${lengths[0] ?? 0} tokens and ${lengths[1] ?? 0} log-probabilities`;
      throw invalid(key, `rollout ${index} is of a plan of ${tokens} tokens, and its sample has ${sampled}`);
    }
    const rolloutId = `${groupId}/${sixDigits(index)}`;
    return rowSchema.parse({
      ...sample,
      rolloutId,
      groupId,
      round: group.round,
      policy: samples.checkpoint,
      reward,
    });
  });
}

function headerOf(
  { trainRun, cycle, temperature, checkpoint, groups }: WriteBatchRequest,
  parts: readonly { readonly tokenizerSha256: string }[],
  rollouts: number,
): BatchHeader {
  const [tokenizerSha256, another] = new Set(parts.map((part) => part.tokenizerSha256));
  if (another !== undefined) {
    const reason = 'they were sampled with two tokenizers; was a manifest replaced meanwhile?';
    throw invalid(groups.join(', '), reason);
  }
  return batchHeaderSchema.parse({
    schema: 1,
    trainRun,
    cycle,
    temperature,
    policy: checkpoint.name,
    rollouts,
    tokenizerSha256,
  });
}

function invalid(groups: string, reason: string): ApplicationFailure {
  const message = `no batch can be made of ${groups}: ${reason}`;
  return ApplicationFailure.nonRetryable(message, 'Trainer.BatchInvalid');
}

/** Takes its part of a kept sample, in the order of the contract. */
const rowSchema = z.object(batchRowSchema.shape);

const keptSampleSchema = z.object({
  /** The reply without its end marker. */
  text: z.string(),
  promptTokenIds: batchRowSchema.shape.promptTokenIds.readonly(),
  completionTokenIds: batchRowSchema.shape.completionTokenIds.readonly(),
  sampledLogprobs: batchRowSchema.shape.sampledLogprobs.readonly(),
  finishReason: batchRowSchema.shape.finishReason,
});

const keptSamplesSchema = z.object({
  /** SHA-256 over all that decides what is sampled, which tells these from another group's under the same key. */
  identity: z.string(),
  /** `<training run>/<name>`. */
  checkpoint: z.string(),
  temperature: z.number(),
  tokenizerSha256: z.string(),
  /** In the order of the group's. */
  rollouts: z.array(keptSampleSchema).readonly(),
});

/** One reply of a policy, token by token. */
export type KeptSample = z.infer<typeof keptSampleSchema>;
/** Plans that a policy wrote for one group. */
export type KeptSamples = z.infer<typeof keptSamplesSchema>;

export function readSamples(store: Store, key: string): Promise<KeptSamples | null> {
  return readRecord(store, key, keptSamplesSchema);
}
