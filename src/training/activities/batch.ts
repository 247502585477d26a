import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { Store } from '../../store/store';
import type { StoredBatch, WriteBatchRequest } from '../contract';
import { batchKey, sixDigits } from '../keys';
import type { GroupRecord } from '../rollout';
import { type BatchHeader, batchHeaderSchema, type BatchRow, batchRowSchema } from '../trainer-contract';
import { readGroup, readRecord, writeRecord } from './records';
import { checkpointId } from '../checkpoint-ref';

const compress = promisify(gzip);

/**
 * Activity `conductor.train.writeBatch`: joins what the policy wrote, token by token, with what it earned, into the batch
 * of one update: gzip JSON lines, a header and then the rollouts in the order of their names. The same groups give the
 * same bytes.
 *
 * @throws ApplicationFailure `Trainer.BatchInvalid`, not retryable, for samples of another checkpoint or temperature
 */
export async function writeBatch(
  { store }: { readonly store: Store },
  request: WriteBatchRequest,
): Promise<StoredBatch> {
  const parts = await Promise.all(request.groups.map((key) => partOf(store, key, request)));
  const rows = parts.flatMap(({ rows }) => rows).sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1));
  const header = headerOf(request, parts, rows.length);
  const lines = [header, ...rows].map((line) => `${JSON.stringify(line)}\n`).join('');
  const bytes = await compress(lines);
  const key = batchKey(request.trainRun, request.cycle);
  await store.write(key, bytes);
  return { key, sha256: createHash('sha256').update(bytes).digest('hex'), rollouts: rows.length };
}

/** What one group brings into a batch. */
interface BatchPart {
  readonly tokenizerSha256: string;
  readonly rows: readonly BatchRow[];
}

async function partOf(store: Store, key: string, request: WriteBatchRequest): Promise<BatchPart> {
  const group = await readGroup(store, key);
  const samples = group.samples === null ? null : await readSamples(store, group.samples);
  if (samples === null) throw invalid(key, 'there are no samples of it in the store; were they removed?');
  const policy = checkpointId(request.checkpoint);
  if (samples.checkpoint !== policy) {
    throw invalid(key, `its plans were sampled from ${samples.checkpoint}, and the update is of ${policy}`);
  }
  if (samples.temperature !== request.temperature) {
    throw invalid(
      key,
      `its plans were sampled at temperature ${samples.temperature}, and the update is for temperature ${request.temperature}`,
    );
  }
  return { tokenizerSha256: samples.tokenizerSha256, rows: rowsOf(key, group, samples) };
}

function rowsOf(key: string, group: GroupRecord, samples: KeptSamples): BatchRow[] {
  const groupId = [sixDigits(group.cycle), sixDigits(group.draw), group.round].join('/');
  return group.rollouts.map(({ index, reward, tokens }) => {
    const sample = samples.rollouts[index];
    if (sample === undefined)
      throw invalid(key, `rollout ${index} is not among its ${samples.rollouts.length} samples`);
    const { promptTokenIds, completionTokenIds, sampledLogprobs, finishReason } = sample;
    if (completionTokenIds.length !== sampledLogprobs.length) {
      throw invalid(
        key,
        `rollout ${index} has ${completionTokenIds.length} tokens and ${sampledLogprobs.length} log-probabilities`,
      );
    }
    if (completionTokenIds.length !== tokens) {
      throw invalid(
        key,
        `rollout ${index} carried out a plan of ${tokens} tokens, and its sample has ${completionTokenIds.length}: it is another one`,
      );
    }
    return batchRowSchema.parse({
      rolloutId: `${groupId}/${sixDigits(index)}`,
      groupId,
      round: group.round,
      promptTokenIds,
      completionTokenIds,
      sampledLogprobs,
      reward,
      finishReason,
    });
  });
}

function headerOf(
  { trainRun, cycle, checkpoint, temperature, groups }: WriteBatchRequest,
  parts: readonly BatchPart[],
  rollouts: number,
): BatchHeader {
  const [tokenizerSha256, another] = new Set(parts.map((part) => part.tokenizerSha256));
  if (another !== undefined) {
    throw invalid(
      groups.join(', '),
      'they were sampled with two tokenizers; was a manifest replaced meanwhile?',
    );
  }
  return batchHeaderSchema.parse({
    schema: 1,
    trainRun,
    cycle,
    policy: checkpoint.name,
    rollouts,
    temperature,
    tokenizerSha256,
  });
}

function invalid(groups: string, reason: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(
    `no batch can be made of ${groups}: ${reason}`,
    'Trainer.BatchInvalid',
  );
}

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
  await writeRecord(store, key, samples);
}

/** Samples as they were kept; null where there are none. */
export function readSamples(store: Store, key: string): Promise<KeptSamples | null> {
  return readRecord(store, key, keptSamplesSchema, '; remove it, and the samples are made again');
}
