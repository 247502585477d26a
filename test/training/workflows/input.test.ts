import { randomUUID } from 'node:crypto';
import type { ApplicationFailure } from '@temporalio/client';
import { FAILURES } from '../../../src';
import * as names from '../../../src/training/names';
import { externalCard } from '../../budget/cards';
import { replaced } from '../../support/mangled';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { type Taken, takenBy } from './mangled-inputs';

let stage: ScriptedTraining;
let taken: readonly Taken[];
let working: Promise<void>;
let stopWorking: () => void;
beforeAll(async () => {
  stage = await openScriptedTraining();
  taken = await takenBy(stage);
  const started = new Promise<void>((resolve) => {
    working = stage.whileWorking(() => {
      resolve();
      return new Promise((end) => (stopWorking = end));
    });
  });
  await started;
});
afterAll(async () => {
  stopWorking();
  await working;
  await stage.close();
});

const A_CENTURY = 1e15;
/** Reference to another kind of object in the store. */
const FORGED = { key: `answers/${'a'.repeat(64)}.jsonl`, sha256: 'a'.repeat(64) };

test.each<readonly [workflow: string, words: string, field: string, value: unknown]>([
  [names.TRAIN_WORKFLOW, 'timeZone is "Mars/Olympus"', 'timeZone', 'Mars/Olympus'],
  [names.TRAIN_WORKFLOW, 'date is "2026-02-30"', 'date', '2026-02-30'],
  [names.NIGHTLY_WORKFLOW, 'trainRun is missing', 'trainRun', undefined],
  [names.NIGHTLY_WORKFLOW, 'trainRun is "nnn', 'trainRun', 'n'.repeat(2_000)],
  [names.NIGHTLY_WORKFLOW, 'expected an object', '', null],
  [names.GROUP_WORKFLOW, 'plans is 1000000000', 'plans', 1e9],
  [names.GROUP_WORKFLOW, 'reward is missing', 'reward', undefined],
  [names.GROUP_WORKFLOW, 'policy.patienceMs is 1000000000000000', 'policy.patienceMs', A_CENTURY],
  [names.GROUP_WORKFLOW, 'verifier', 'verifier', externalCard('judge')],
  [names.WARM_START_WORKFLOW, 'init is missing', 'init', undefined],
  [names.WARM_START_WORKFLOW, 'init.base', 'init.base.texts', FORGED],
  [names.WARM_START_WORKFLOW, 'warmStart.examples.key', 'warmStart.examples', FORGED],
])('%s refuses: %s', async (workflow, words, field, value) => {
  const own = taken.find((each) => each.workflow === workflow);
  await own?.check(own.input);
  const forged = replaced(own?.input, field === '' ? [] : field.split('.'), value);
  const check = async () => own?.check(forged);
  const refused = await check().catch((error: unknown) => error as ApplicationFailure);
  const message = expect.stringContaining(words) as string;
  expect(refused).toMatchObject({ type: FAILURES.badInput, nonRetryable: true, message });
  expect(refused?.message.length).toBeLessThan(300);
});

test.each<readonly [words: string, budget: unknown]>([
  ['costUsd in the input of setBudget is 1000000000', { costUsd: 1e9 }],
  ['hours in the input of setBudget is 169', { hours: 169 }],
  ['it must be left out; known are costUsd, hours', { ['x'.repeat(100_000)]: 1 }],
  ['the input of setBudget is "xxx', 'x'.repeat(100_000)],
])('a night refuses a budget: %s', async (words, budget) => {
  const { client } = stage.temporal;
  stage.providers.hold('a');
  const workflowId = randomUUID();
  const args = [{ trainRun: workflowId, date: '2026-01-10' }];
  const { taskQueue } = stage;
  const handle = await client.workflow.start(names.TRAIN_WORKFLOW, { workflowId, taskQueue, args });
  const update = handle.executeUpdate('setBudget', { args: [budget] });
  const { cause } = (await update.catch((error: unknown) => error)) as { cause: Error };
  expect(cause.message).toContain(words);
  expect(cause.message.length).toBeLessThan(300);
  await handle.terminate();
});

test('a night with the longest limits that a configuration allows is trained and judged', async () => {
  const longest = await openScriptedTraining({ limits: { wallClock: '24d' }, training: { window: 1 } });
  try {
    const night = await longest.whileWorking(() => longest.train());
    expect(night).toMatchObject({ status: 'done', done: 1 });
  } finally {
    await longest.close();
  }
});
