import type { SqliteStore } from '../../../src/store/sqlite-store';
import {
  judgeCanary,
  type JudgeCanaryRequest,
  judgeCandidate,
  type JudgeCandidateRequest,
} from '../../../src/training/activities/judge';
import type { Tried } from '../../../src/training/contract';
import { canaryKey, gateKey } from '../../../src/training/store-keys';
import { pin, promote, readServing, rollback, writeManifest } from '../../../src/training/policy/serving';
import { freshStore } from '../../local/fresh-folder';
import { aManifest } from '../../support/a-manifest';
import { groupOf } from './group-records';
import { describePolicy, type PolicyRef } from '../../../src/training/names';

const CANDIDATE = { trainRun: 'nightly', name: '000020' };
const BASELINE = { trainRun: 'nightly', name: '000010' };
const OTHER = { trainRun: 'nightly', name: '000005' };
const PERSON = { reason: 'by hand', by: 'person' } as const;

let store: SqliteStore;

beforeEach(async () => {
  store = await freshStore();
  for (const { name } of [CANDIDATE, BASELINE, OTHER]) await writeManifest(store, aManifest({ name }));
});

test('a better candidate is promoted once, and the reason is kept beside the night', async () => {
  await promote(store, BASELINE, PERSON);
  const asked = await request(1, 0.5);
  const decision = await judgeCandidate(store, asked);
  expect(decision).toMatchObject({ promoted: true, pairs: 6, gain: 0.5 });
  expect(await readServing(store)).toMatchObject({ serving: CANDIDATE, reason: decision.sentence });
  const policies = { candidate: 'nightly/000020', baseline: 'nightly/000010' };
  const kept = { schema: 1, night: '2026-11-21', ...policies, maxCostRatio: 1, ...decision };
  expect(await read(gateKey('nightly', '2026-11-21'))).toMatchObject(kept);
  expect(await judgeCandidate(store, asked)).toEqual(decision);
  await rollback(store, 'once');
  expect(await readServing(store)).toMatchObject({ serving: BASELINE });
});

test('counts judgements on the same questions over nights and training runs, each candidate of a night once', async () => {
  const asked = await request(0.5, 0.5);
  const judgementOf = async (change: Partial<JudgeCandidateRequest>) =>
    (await judgeCandidate(store, { ...asked, ...change })).judgement;
  expect(await judgementOf({})).toBe(1);
  expect(await judgementOf({})).toBe(1);
  expect(await judgementOf({ date: '2026-11-22' })).toBe(2);
  expect(await judgementOf({ trainRun: 'other' })).toBe(3);
  expect(await judgementOf({ candidate: await tried({ ...CANDIDATE, name: '000021' }, 0.5) })).toBe(4);
  expect(await judgementOf({ date: '2026-11-22', trainRun: 'best', looks: 3 })).toBe(8);
  expect(await judgementOf({ date: '2026-11-23', heldOut: 'questions/of-december.jsonl' })).toBe(1);
});

test('a candidate may beat the prompted Conductor if no checkpoint serves yet', async () => {
  const asked = { ...(await request(1, 0.5)), baseline: await tried('prompted', 0.5) };
  expect(await judgeCandidate(store, asked)).toMatchObject({ promoted: true });
  expect(await readServing(store)).toMatchObject({ serving: CANDIDATE });
});

test.each([
  ['is no better', 0.5, () => promote(store, BASELINE, PERSON), BASELINE, 'may be chance'],
  [
    'is better than what is pinned',
    1,
    () => promote(store, BASELINE, PERSON).then(() => pin(store, true, 'by hand')),
    BASELINE,
    /beats nightly\/000010 .*, but .*000010 is pinned/,
  ],
  [
    'was not compared with what a person promoted meanwhile',
    1,
    () => promote(store, OTHER, PERSON),
    OTHER,
    'meanwhile nightly/000005 serves',
  ],
])('a candidate that %s changes nothing but the record', async (_, reward, before, serving, why) => {
  await before();
  const { promoted, sentence } = await judgeCandidate(store, await request(reward, 0.5));
  expect(promoted).toBe(false);
  expect(sentence).toMatch(why);
  expect(await readServing(store)).toMatchObject({ serving });
  expect(await read(gateKey('nightly', '2026-11-21'))).toMatchObject({ promoted: false, sentence });
});

test('a missing group ends the judgement, and is named', async () => {
  const { candidate, ...asked } = await request(1, 0.5);
  const lost = { ...candidate, groups: [...candidate.groups, 'training/nightly/lost.json'] };
  await expect(judgeCandidate(store, { ...asked, candidate: lost })).rejects.toMatchObject({
    code: 'TextNotFound',
    message: expect.stringContaining('training/nightly/lost.json') as unknown,
  });
});

describe('the canary', () => {
  const gaps = { own: [0], parent: null, tolerance: 1e-4 };

  beforeEach(async () => {
    await promote(store, BASELINE, PERSON);
    await promote(store, CANDIDATE, PERSON);
  });

  test('rolls back a checkpoint that answers worse than before, once', async () => {
    const asked = { ...(await watched(0, 0.5)), gaps };
    expect(await judgeCanary(store, asked)).toMatchObject({ rolledBack: true });
    expect(await judgeCanary(store, asked)).toMatchObject({ rolledBack: true });
    expect(await readServing(store)).toMatchObject({ serving: BASELINE });
    const kept = { promoted: 'nightly/000020', replaced: 'nightly/000010', rolledBack: true };
    expect(await read(canaryKey('nightly', '2026-11-21'))).toMatchObject(kept);
  });

  test('rolls back weights other than those trained, however well they answer', async () => {
    const asked = { ...(await watched(1, 0.5)), gaps: { ...gaps, own: [0.2] } };
    expect(await judgeCanary(store, asked)).toMatchObject({ rolledBack: true });
    expect(await readServing(store)).toMatchObject({ serving: BASELINE });
  });

  test('keeps what serves well, and what a person promoted meanwhile', async () => {
    const well = await judgeCanary(store, { ...(await watched(1, 0.5)), gaps });
    expect(well).toMatchObject({ rolledBack: false });
    expect(await readServing(store)).toMatchObject({ serving: CANDIDATE });
    await promote(store, OTHER, PERSON);
    const { rolledBack, sentence } = await judgeCanary(store, { ...(await watched(0, 0.5)), gaps });
    expect(rolledBack).toBe(false);
    expect(sentence).toContain('but meanwhile nightly/000005 serves');
    expect(await readServing(store)).toMatchObject({ serving: OTHER });
  });
});

const NIGHT = { trainRun: 'nightly', date: '2026-11-21' };

async function request(candidate: number, baseline: number): Promise<JudgeCandidateRequest> {
  return {
    ...NIGHT,
    maxCostRatio: 1,
    margin: 0.02,
    heldOut: 'questions/of-november.jsonl',
    looks: 0,
    candidate: await tried(CANDIDATE, candidate),
    baseline: await tried(BASELINE, baseline),
  };
}

async function watched(promoted: number, replaced: number): Promise<Omit<JudgeCanaryRequest, 'gaps'>> {
  return { ...NIGHT, promoted: await tried(CANDIDATE, promoted), replaced: await tried(BASELINE, replaced) };
}

/** Stores trials of a policy on six questions, each answered once with this reward. */
async function tried<Policy extends PolicyRef>(policy: Policy, reward: number): Promise<Tried<Policy>> {
  const who = describePolicy(policy).replaceAll(/\W+/g, '-');
  const groups = Array.from({ length: 6 }, (_, draw) => `training/nightly/groups/${who}-${draw}.json`);
  for (const [draw, key] of groups.entries()) {
    await store.write(key, Buffer.from(JSON.stringify(groupOf(draw, [reward], { purpose: 'evaluation' }))));
  }
  return { policy, groups };
}

async function read(key: string): Promise<unknown> {
  return JSON.parse((await store.read(key))?.toString('utf8') ?? 'null');
}
