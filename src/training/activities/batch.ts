import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApplicationFailure } from '@temporalio/common';
import { z } from 'zod';
import type { Store } from '../../store/store';
import type { SealedFiles } from '../artifacts';
import { checkpointId, type CheckpointRef, sixDigits } from '../names';
import { batchKey, canaryBatchKey } from '../store-keys';
import type { GroupRecord, Rollout } from '../records';
import { batchHeaderSchema, type BatchRow, batchRowSchema, type UpdateRequest } from '../trainer-contract';
import { learnableParts } from '../rewards';
import { readRecord } from '../../store/records';
import { readGroup } from './records';

const compress = promisify(gzip);

export interface WriteBatchRequest {
  readonly trainRun: string;
  readonly cycle: number;
  readonly checkpoint: CheckpointRef;
  readonly writer?: CheckpointRef;
  readonly temperature: number;
  readonly groups: readonly string[];
  /** Which rows are learned from; absent if all are only compared. */
  readonly learning?: {
    /** Keeps groups of equal rewards. */
    readonly keepFlat: boolean;
    /** Difference in reward that counts among equally good answers; absent: none does. */
    readonly material?: number;
    /** Leaves out rollouts without a reward: only a KL term reads them, and they dilute the mean over tokens. */
    readonly rewardedOnly: boolean;
  };
  /** Date of the night whose canary wrote the groups: the batch is only compared, and is stored beside that night. */
  readonly canary?: string;
}

/**
 * Activity `conductor.train.writeBatch`: writes the policy's tokens with their rewards, in the order of their ids.
 * Equal groups give equal bytes.
 * @throws ApplicationFailure `Trainer.BatchInvalid` for missing samples, or those of another checkpoint or temperature
 */
export async function writeBatch(
  { store, sealed }: { readonly store: Store; readonly sealed: SealedFiles },
  request: WriteBatchRequest,
): Promise<UpdateRequest['batch'] & { readonly rollouts: number }> {
  const { trainRun, cycle, checkpoint, temperature, groups, canary } = request;
  const parts = await Promise.all(groups.map((key) => partOf(store, key, request)));
  const rows = parts.flatMap(({ rows }) => rows).sort((a, b) => (a.rolloutId < b.rolloutId ? -1 : 1));
  const tokenizerSha256 = parts[0]?.tokenizerSha256;
  const made = { policy: checkpoint.name, rollouts: rows.length, temperature, tokenizerSha256 };
  const header = batchHeaderSchema.parse({ schema: 1, trainRun, cycle, ...made });
  const bytes = await compress([header, ...rows].map((line) => `${JSON.stringify(line)}\n`).join(''));
  const key = canary === undefined ? batchKey(trainRun, cycle) : canaryBatchKey(trainRun, canary);
  await sealed.write(key, bytes);
  return { key, sha256: hash('sha256', bytes), rollouts: rows.length };
}

async function partOf(
  store: Store,
  key: string,
  request: WriteBatchRequest,
): Promise<{ tokenizerSha256: string; rows: BatchRow[] }> {
  const group = await readGroup(store, key);
  const samples = group.samples === null ? null : await readSamples(store, group.samples);
  if (samples === null) throw invalid(key, 'its samples are not in the store');
  const { checkpoint, writer = checkpoint, temperature } = request;
  const policy = checkpointId(writer);
  if (samples.checkpoint !== policy || samples.temperature !== temperature) {
    const sampled = `its plans were sampled from ${samples.checkpoint} at temperature ${samples.temperature}`;
    throw invalid(key, `${sampled}, and the update is of ${policy} at ${temperature}`);
  }
  return {
    tokenizerSha256: samples.tokenizerSha256,
    rows: rowsOf(key, group, samples, request.learning),
  };
}

function rowsOf(
  key: string,
  group: GroupRecord,
  samples: KeptSamples,
  learning: WriteBatchRequest['learning'],
): BatchRow[] {
  const name = [sixDigits(group.cycle), sixDigits(group.draw), group.round].join('/');
  const rollouts = learning === undefined ? group.rollouts : rolloutsToLearn(group, learning);
  return rollouts.map(({ index, reward, outcome, tokens, baseline }) => {
    const sample = samples.rollouts[index];
    const lengths = [sample?.completionTokenIds.length, sample?.sampledLogprobs.length];
    if (lengths.some((length) => length !== tokens)) {
      const sampled = `${lengths[0] ?? 0} tokens and ${lengths[1] ?? 0} log-probabilities`;
      throw invalid(key, `rollout ${index} is of a plan of ${tokens} tokens, and its sample has ${sampled}`);
    }
    const groupId = learning !== undefined && baseline !== undefined ? `${name}/${baseline}` : name;
    const ids = { rolloutId: `${name}/${sixDigits(index)}`, groupId, round: group.round };
    return rowSchema.parse({ ...sample, ...ids, policy: samples.checkpoint, reward, outcome });
  });
}

function rolloutsToLearn(
  { rollouts }: GroupRecord,
  learning: NonNullable<WriteBatchRequest['learning']>,
): readonly Rollout[] {
  const kept = learnableParts(rollouts, learning).flat();
  return learning.rewardedOnly ? kept.filter(({ reward }) => reward !== null) : kept;
}

const REMEDY = 'Give all workers the same store, or restore it from a backup; else start another night.';

function invalid(group: string, reason: string): ApplicationFailure {
  const message = `no batch can be made of ${group}: ${reason}. ${REMEDY}`;
  return ApplicationFailure.nonRetryable(message, 'Trainer.BatchInvalid');
}

const rowSchema = z.object(batchRowSchema.shape);

const keptSampleSchema = z.object({
  text: z.string(),
  promptTokenIds: batchRowSchema.shape.promptTokenIds.readonly(),
  completionTokenIds: batchRowSchema.shape.completionTokenIds.readonly(),
  sampledLogprobs: batchRowSchema.shape.sampledLogprobs.readonly(),
  finishReason: batchRowSchema.shape.finishReason,
  thoughtTokens: batchRowSchema.shape.thoughtTokens,
});

const keptSamplesSchema = z.object({
  identity: z.string(),
  checkpoint: z.string(),
  temperature: z.number(),
  tokenizerSha256: z.string(),
  rollouts: z.array(keptSampleSchema).readonly(),
});

export type KeptSample = z.infer<typeof keptSampleSchema>;
export type KeptSamples = z.infer<typeof keptSamplesSchema>;

export function readSamples(store: Store, key: string): Promise<KeptSamples | null> {
  return readRecord(store, key, keptSamplesSchema);
}
