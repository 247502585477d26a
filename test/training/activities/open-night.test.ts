import fc from 'fast-check';
import { digestOf } from '../../../src/config/digest';
import { ConfigError } from '../../../src/config/errors';
import { QuestionSets } from '../../../src/evaluation/activities';
import { closeCycle, closeNight } from '../../../src/training/activities/close-cycle';
import {
  type NightClaim,
  claimNight,
  openNight,
  type OpenNightRequest,
} from '../../../src/training/activities/open-night';
import { readNight } from '../../../src/training/activities/records';
import { openFiles } from '../../../src/training/client';
import type { TrainingInput } from '../../../src/training/config/schema';
import { writeManifest } from '../../../src/training/policy/serving';
import type { OpenedNight } from '../../../src/training/contract';
import type { NightRecord, RunRecord } from '../../../src/training/records';
import { aManifest } from '../../support/a-manifest';
import { aNight } from '../client/keep-run';
import { closedCycle } from './group-records';
import { openQuestionFolder, type QuestionFolder, row } from './questions';

let folder: QuestionFolder;
beforeEach(async () => (folder = await openQuestionFolder()));

const open = (request: Partial<OpenNightRequest> = {}, training: TrainingInput = {}) =>
  openNight({ store: folder.store, config: folder.config(training) }, { date: '2026-11-21', ...request });

/** Opens a night and closes the given cycles of it, in order. */
async function train(date: string, ...cycles: readonly number[]): Promise<void> {
  const { settings } = await open({ date });
  for (const cycle of cycles) await closeCycle(folder.store, closedCycle(settings, date, cycle));
}

/** Plays a night of three cycles to its end. */
async function spend(date: string): Promise<void> {
  await train(date, 1, 2, 3);
  await close(date, 3);
}

async function close(date: string, done: number): Promise<void> {
  const checkpoint = { trainRun: 'sums', name: `00000${done}` };
  await closeNight(folder.store, { trainRun: 'sums', date, done, checkpoint, decision: 'It serves.' });
}

test('a first night gets settings, cycles, stored questions, and a base model to be made', async () => {
  const { settings, train: set, heldOut, init, prompts, ...night } = await open();
  const nothing = { from: null, warmStart: null, writer: null, rolloutNanoUsd: null };
  const cycles = { date: '2026-11-21', first: 1, last: 3 };
  expect(night).toEqual({ night: cycles, isTrained: false, done: 0, ...nothing });
  expect(init).toMatchObject({ trainRun: 'sums', base: { kind: 'folder', path: 'models/qwen' } });
  expect(settings).toMatchObject({ trainRun: 'sums', cycles: 3 });
  expect([set.count, heldOut.count]).toEqual([3, 1]);
  const compared = (await openFiles(folder.artifacts).read(prompts?.key ?? ''))
    ?.toString()
    .trimEnd()
    .split('\n');
  expect(compared).toHaveLength(3);
  expect(JSON.parse(compared?.[0] ?? '')).toMatchObject([
    { role: 'system' },
    { role: 'user', content: 'Write a plan for this question:\n\nWhat is a?' },
  ]);
  const sets = new QuestionSets(folder.store);
  expect(await sets.read({ set: set.set, index: 1 })).toMatchObject({ id: 'b', answer: '4' });
  await expect(sets.read({ set: set.set, index: 3 })).rejects.toThrow('question 4 was requested');
});

test('reads questions from nowhere else in the store, and no altered ones, since questions name activities', async () => {
  const forged = Buffer.from('{"grader":"custom","activity":"wipeDisk","taskQueue":"others"}\n');
  const sets = new QuestionSets(folder.store);
  for (const set of ['texts/ab/sha256-ab', 'answers/ab/x.json', 'questions/x.jsonl']) {
    await folder.store.write(set, forged);
    await expect(sets.read({ set, index: 0 })).rejects.toBeInstanceOf(ConfigError);
  }
  const { train: set } = await open();
  await folder.store.write(set.set, forged);
  await expect(sets.read({ set: set.set, index: 0 })).rejects.toThrow('differ from those that were stored');
});

test('questions emptied by a power failure are written again by the next night', async () => {
  const { train: set } = await open();
  await folder.store.write(set.set, Buffer.alloc(0));
  await spend('2026-11-21');
  await open({ date: '2026-11-22' });
  expect(await new QuestionSets(folder.store).read({ set: set.set, index: 0 })).toMatchObject({ id: 'a' });
});

test('the next night claims the next cycles, and continues from the last checkpoint', async () => {
  await spend('2026-11-21');
  const cycles = { night: { first: 4, last: 5 }, settings: { cycles: 2 }, done: 3 };
  const from = { trainRun: 'sums', name: '000003' };
  expect(await open({ date: '2026-11-22', cycles: 2 })).toMatchObject({ ...cycles, from });
});

test('an interrupted night continues with its cycles, its questions and its checkpoint', async () => {
  const before = await open();
  expect(await open()).toEqual(before);
  await train('2026-11-21', 1);
  await folder.write('train.jsonl', [row('d')]);
  const from = { trainRun: 'sums', name: '000001' };
  const same = { night: before.night, train: before.train, settings: { cycles: 3 } };
  expect(await open({ cycles: 9 })).toMatchObject({ ...same, done: 1, isTrained: false, from });
});

test('a run that has trained all cycles of its learning-rate schedule says so, and claims nothing', async () => {
  const planned = { totalCycles: 4 };
  await spend('2026-11-21');
  const last = { date: '2026-11-22' };
  expect(await open(last, planned)).toMatchObject({ night: { first: 4, last: 4 } });
  await train('2026-11-22', 4);
  // The night's gate has not run yet.
  expect(await open(last, planned)).toMatchObject({ done: 4, isTrained: false });
  await close('2026-11-22', 4);
  const next = { date: '2026-11-23' };
  const over =
    'sums has trained all its 4 cycles (training.totalCycles): by its cosine schedule the learning rate';
  await expect(open(next, planned)).rejects.toThrow(over);
  expect(await readNight(folder.store, 'sums', '2026-11-23')).toBeNull();
  const constant = { ...planned, trainer: { optimizer: { schedule: 'constant' as const } } };
  expect(await open(next, constant)).toMatchObject({ night: { first: 5, last: 7 } });
});

test('a night may start from another checkpoint; one that the store does not know is refused at once', async () => {
  const from = 'other/000200';
  await expect(open({ from })).rejects.toMatchObject({ code: 'Policy.NoManifest' });
  expect(await folder.store.list('training/')).toEqual([]);
  await writeManifest(folder.store, aManifest({ trainRun: 'other', name: '000200' }));
  expect(await open({ from })).toMatchObject({ from: { trainRun: 'other', name: '000200' } });
  await train('2026-11-21', 1);
  expect(await open({ from })).toMatchObject({ from: { trainRun: 'sums', name: '000001' } });
});

test('examples to imitate are stored, and a tokenizer is made from them, or else from the questions', async () => {
  const lines = async (key = '') => (await openFiles(folder.artifacts).read(key))?.toString();
  const textsOf = ({ init: { base } }: OpenedNight) => lines(base.kind === 'tiny' ? base.texts.key : '');
  const base = { kind: 'tiny' } as const;
  expect(await textsOf(await open({}, { base }))).toBe('"What is a?"\n"What is b?"\n"What is c?"\n');
  const asked = { messages: [{ role: 'user', content: 'Q1' }], completion: 'A1' };
  const rows = [asked, { prompt: 'Q2', completion: 'A2' }];
  const examples = await folder.write('examples.jsonl', rows);
  const warmStart = { examples, steps: 10, learningRate: 0.006 };
  const opened = await open({}, { base, warmStart });
  const parent = { trainRun: 'sums', name: 'base' };
  expect(opened.warmStart).toMatchObject({ trainRun: 'sums', parent, name: 'warm', steps: 10, batch: 32 });
  expect(await textsOf(opened)).toBe('"Q1A1"\n"Q2A2"\n');
  expect(await lines(opened.warmStart?.examples.key)).toContain('{"prompt":"Q2","completion":"A2"}\n');
  await folder.write('examples.jsonl', [{ prompt: 'Q1' }]);
  await expect(open({}, { base, warmStart })).rejects.toThrow(
    /:1: .*expected \{ "messages", "completion" \} or \{ "prompt", "completion" \}$/,
  );
});

test('a night requested under another version of the configuration waits, and says what differs', async () => {
  const asked = digestOf(folder.config({ groupSize: 8, questions: 2 }));
  const opening = open({ config: asked }, { groupSize: 4, questions: 2 });
  const message = expect.stringMatching(/another version .*: training\.groupSize differs\./) as string;
  const failure = { type: 'Configuration.Invalid', nonRetryable: false, message };
  await expect(opening).rejects.toMatchObject(failure);
  expect(await open({ config: asked }, { groupSize: 8, questions: 2 })).toMatchObject({ done: 0 });
});

const run = (done: number): RunRecord => ({ schema: 1, trainRun: 'run', done, checkpoint: null });
const night = (first: number, last: number, done: number, isClosed: boolean): NightRecord =>
  aNight({ first, last, done, closedAt: isClosed ? 'later' : null });

const claim = (
  record: RunRecord | null,
  earlier: NightRecord | null,
  cycles: number,
  total = Infinity,
): NightClaim => claimNight(record, earlier, { cycles, total });

test.each([
  ['that was interrupted goes on where it was', run(2), night(1, 5, 2, false), false],
  ['whose gate was not asked yet is not over', run(5), night(1, 5, 5, false), false],
  ['that was trained to its end is not trained again', run(5), night(1, 5, 5, true), true],
  ['that was stopped goes on with what it left', run(2), night(1, 5, 2, true), false],
  ['that was stopped has nothing left once a later one has trained it', run(3), night(1, 5, 2, true), true],
  ['that was interrupted has nothing left either', run(3), night(1, 5, 2, false), true],
])('a night %s', (_, record, earlier, isTrained) => {
  const { first, last, done } = earlier;
  expect(claim(record, earlier, 3)).toEqual({ first, last, done, isTrained });
});

test.each([
  ['of a first date claims the first cycles', claim(null, null, 3), [1, 3, 0]],
  ['of a new date claims the next ones', claim(run(7), null, 3), [8, 10, 7]],
  ['that has trained nothing keeps its own', claim(run(2), night(3, 4, 2, false), 9), [3, 4, 2]],
  ['or goes on after what was trained since', claim(run(7), night(3, 4, 2, false), 9), [8, 9, 7]],
  ['claims no more than the run may have in all', claim(run(180), null, 30, 200), [181, 200, 180]],
  ['nor an interrupted one', claim(run(190), night(171, 200, 170, false), 30, 200), [191, 200, 190]],
])('a night %s', (_, { first, last, done, isTrained }, cycles) => {
  expect([first, last, done]).toEqual(cycles);
  expect(isTrained).toBe(false);
});

test('no cycle is trained twice or left out, however and in whichever order nights end', () => {
  const count = fc.integer({ min: 1, max: 5 });
  const nights = fc.record({ date: fc.nat(3), cycles: count, trained: fc.nat(5), isClosed: fc.boolean() });
  fc.assert(
    fc.property(fc.array(nights, { maxLength: 12 }), (wishes) => {
      const records = new Map<number, NightRecord>();
      const trained: number[] = [];
      for (const { date, cycles, trained: most, isClosed } of wishes) {
        const claimed = claim(run(trained.length), records.get(date) ?? null, cycles);
        if (claimed.isTrained) continue;
        const done = Math.min(claimed.last, claimed.done + most);
        for (let cycle = claimed.done + 1; cycle <= done; cycle += 1) trained.push(cycle);
        records.set(date, night(claimed.first, claimed.last, done, isClosed));
      }
      expect(trained).toEqual(trained.map((_, index) => index + 1));
    }),
  );
});
