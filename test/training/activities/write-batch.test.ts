import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { SqliteStore } from '../../../src/store/sqlite-store';
import { readSamples, writeBatch } from '../../../src/training/activities/batch';
import { keepGroup } from '../../../src/training/activities/records';
import type { GroupRecord } from '../../../src/training/definitions';
import { batchHeaderSchema, batchRowSchema } from '../../../src/training/trainer-contract';
import { groupOf, keepSamplesOf } from './group-records';
import { freshStore } from '../../local/fresh-folder';

let store: SqliteStore;
beforeEach(async () => (store = await freshStore()));

const CHECKPOINT = { trainRun: 'sums', name: '000006' };

type Learning = NonNullable<Parameters<typeof writeBatch>[1]['learning']>;

const USUAL: Learning = { keepFlat: false, rewardedOnly: false };

const write = (groups: readonly string[], writer = CHECKPOINT, learning = USUAL) => {
  const request = { trainRun: 'sums', cycle: 7, checkpoint: CHECKPOINT, writer, temperature: 1 };
  return writeBatch({ store, sealed: store }, { ...request, groups, learning });
};

const writeCanary = (groups: readonly string[], canary: string) => {
  const request = { trainRun: 'sums', cycle: 7, checkpoint: CHECKPOINT, temperature: 1 };
  return writeBatch({ store, sealed: store }, { ...request, groups, canary });
};

async function keep(...groups: readonly GroupRecord[]): Promise<string[]> {
  return Promise.all(
    groups.map(async (group) => {
      await keepSamplesOf(store, group);
      return keepGroup(store, group);
    }),
  );
}

async function linesOf(key: string): Promise<unknown[]> {
  const lines = gunzipSync((await store.read(key)) ?? '')
    .toString()
    .trimEnd()
    .split('\n');
  return lines.map((line): unknown => JSON.parse(line));
}

test('writes a header, and every rollout with its tokens and reward, in the order of the ids', async () => {
  const groups = await keep(
    groupOf(10, [1, 0.5]),
    groupOf(9, [0, null, 1]),
    groupOf(9, [0.5, 1], { round: 1, samples: 'samples/9-1.json' }),
  );
  const { key, sha256, rollouts } = await write(groups);
  expect(await write(groups.toReversed())).toEqual({ key, sha256, rollouts });

  const [header, ...rows] = await linesOf(key);
  const told = { trainRun: 'sums', cycle: 7, policy: '000006', rollouts: 7, temperature: 1 };
  expect(batchHeaderSchema.parse(header)).toMatchObject(told);
  expect(rollouts).toBe(7);
  const read = rows.map((row) => batchRowSchema.parse(row));
  expect(
    read.map((row) => [row.rolloutId, row.groupId, row.round, row.reward, row.completionTokenIds]),
  ).toEqual([
    ['000007/000009/0/000000', '000007/000009/0', 0, 0, [9, 0]],
    ['000007/000009/0/000001', '000007/000009/0', 0, null, [9, 1]],
    ['000007/000009/0/000002', '000007/000009/0', 0, 1, [9, 2]],
    ['000007/000009/1/000000', '000007/000009/1', 1, 0.5, [9, 0]],
    ['000007/000009/1/000001', '000007/000009/1', 1, 1, [9, 1]],
    ['000007/000010/0/000000', '000007/000010/0', 0, 1, [10, 0]],
    ['000007/000010/0/000001', '000007/000010/0', 0, 0.5, [10, 1]],
  ]);
  const bytes = (await store.read(key)) ?? '';
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
});

test('tells what an answer is worth beside what it earns if its cost counts, and drops what differs by cents', async () => {
  const outcomes = [1, 1, 0.5];
  const priced = (draw: number, rewards: number[]): GroupRecord => {
    const group = groupOf(draw, rewards);
    const rollouts = group.rollouts.map((rollout, at) => ({ ...rollout, outcome: outcomes[at] ?? null }));
    return { ...group, rollouts };
  };
  const groups = await keep(priced(1, [0.99, 0.98, 0.5]), priced(2, [0.99, 0.98]), priced(3, [1, 0.9]));
  const { key } = await write(groups, CHECKPOINT, { ...USUAL, material: 0.05 });
  const [, ...rows] = await linesOf(key);
  const read = rows.map((row) => batchRowSchema.parse(row));
  expect(read.map(({ groupId, reward, outcome }) => [groupId.slice(-3, -2), reward, outcome])).toEqual([
    ['1', 0.99, 1],
    ['1', 0.98, 1],
    ['1', 0.5, 0.5],
    ['3', 1, 1],
    ['3', 0.9, 1],
  ]);
});

test('tells which tokens of a reply are thoughts', async () => {
  const group = groupOf(1, [1, 0]);
  await keepSamplesOf(store, group);
  const kept = await readSamples(store, group.samples ?? '');
  const rollouts = kept?.rollouts.map((rollout, at) =>
    at === 0 ? rollout : { ...rollout, thoughtTokens: 1 },
  );
  await keepSamplesOf(store, group, { rollouts });
  const { key } = await write([await keepGroup(store, group)]);
  const [, ...rows] = await linesOf(key);
  expect(rows.map((row) => batchRowSchema.parse(row).thoughtTokens)).toEqual([undefined, 1]);
});

describe('a round with several baselines', () => {
  const baselines = ['correct', 'wrong', 'correct', 'wrong', 'ungraded'];
  const round = groupOf(3, [1, 1, 0.5, 1, 0], { round: 1 });
  const rollouts = round.rollouts.map((rollout, index) => ({ ...rollout, baseline: baselines[index] }));
  const rowsOf = async (canary?: string) => {
    const keys = await keep({ ...round, rollouts });
    const { key } = await (canary === undefined ? write(keys) : writeCanary(keys, canary));
    const [header, ...rows] = await linesOf(key);
    expect(header).toMatchObject({ rollouts: rows.length });
    return rows.map((row) => batchRowSchema.parse(row)).map(({ rolloutId, groupId }) => [rolloutId, groupId]);
  };

  test('is one group for each baseline with a spread', async () => {
    expect(await rowsOf()).toEqual([
      ['000007/000003/1/000000', '000007/000003/1/correct'],
      ['000007/000003/1/000002', '000007/000003/1/correct'],
    ]);
  });

  test('is a single group if replies are compared with those of the weights', async () => {
    expect(await rowsOf('2026-11-21')).toEqual(
      [0, 1, 2, 3, 4].map((index) => [`000007/000003/1/00000${index}`, '000007/000003/1']),
    );
  });
});

test('leaves out rows without a reward if nothing reads them', async () => {
  const groups = await keep(groupOf(9, [0, null, 1]));
  const { key, rollouts } = await write(groups, CHECKPOINT, { ...USUAL, rewardedOnly: true });
  const [header, ...rows] = await linesOf(key);
  expect([rollouts, header]).toEqual([2, expect.objectContaining({ rollouts: 2 })]);
  expect(rows).toMatchObject([
    { rolloutId: '000007/000009/0/000000', reward: 0 },
    { rolloutId: '000007/000009/0/000002', reward: 1 },
  ]);
});

test('each row names the checkpoint that wrote it, if that is the previous one', async () => {
  const group = groupOf(0, [1, 0]);
  const keys = await keep(group);
  await keepSamplesOf(store, group, { checkpoint: 'sums/000005' });
  const { key } = await write(keys, { trainRun: 'sums', name: '000005' });
  const [header, ...rows] = await linesOf(key);
  expect(header).toMatchObject({ policy: '000006' });
  expect(rows).toMatchObject([{ policy: 'sums/000005' }, { policy: 'sums/000005' }]);
});

describe('no batch is made of', () => {
  const refused = (key: string, reason: string) =>
    expect(write([key])).rejects.toMatchObject({
      type: 'Trainer.BatchInvalid',
      nonRetryable: true,
      message: expect.stringMatching(new RegExp(`^no batch can be made of ${key}: .*${reason}`)) as string,
    });

  const sample = { text: '', promptTokenIds: [1], completionTokenIds: [2, 3], finishReason: 'stop' } as const;
  test.each([
    ['samples of another checkpoint', { checkpoint: 'sums/000005' }, 'from sums/000005 at temperature 1'],
    ['samples at another temperature', { temperature: 0.2 }, 'from sums/000006 at temperature 0.2, and'],
    ['fewer samples than rollouts', { rollouts: [] }, 'its sample has 0 tokens'],
    [
      'tokens without their log-probabilities',
      { rollouts: [{ ...sample, sampledLogprobs: [-1] }] },
      'its sample has 2 tokens and 1 log-probabilities',
    ],
    [
      'a sample that is not the plan that was carried out',
      { rollouts: [{ ...sample, completionTokenIds: [2, 3, 4], sampledLogprobs: [-1, -1, -1] }] },
      'rollout 0 is of a plan of 2 tokens, and its sample has 3 tokens and 3',
    ],
  ])('%s', async (_, change, reason) => {
    const group = groupOf(0, [1, 0]);
    const [key = ''] = await keep(group);
    await keepSamplesOf(store, group, change);
    await refused(key, reason);
  });

  test('a group that was not sampled from a policy', async () => {
    await refused(
      await keepGroup(store, groupOf(0, [1], { samples: null })),
      'its samples are not in the store. Give all workers the same store',
    );
  });

  test('a group that is gone', async () => {
    await expect(write(['training/sums/none.json'])).rejects.toMatchObject({ code: 'TextNotFound' });
  });
});

test('a group of equal rewards has rows only if such groups are kept', async () => {
  const groups = await keep(groupOf(10, [1, 0.5]), groupOf(9, [0.5, 0.5, 0.5]));
  expect((await write(groups)).rollouts).toBe(2);
  expect((await write(groups, CHECKPOINT, { ...USUAL, keepFlat: true })).rollouts).toBe(5);
});
