import { randomUUID } from 'node:crypto';
import type { WorkflowFailedError } from '@temporalio/client';
import { FAILURES } from '../../../src/protocol/failures';
import {
  EXPORT_WORKFLOW,
  GROUP_WORKFLOW,
  NIGHTLY_WORKFLOW,
  TRAIN_WORKFLOW,
  WARM_START_WORKFLOW,
} from '../../../src/training/names';
import { modelCard, runOf } from '../../budget/cards';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';

let stage: ScriptedTraining;
let working: Promise<void>;
let stopWorking: () => void;
beforeAll(async () => {
  stage = await openScriptedTraining();
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

const CENTURY_MS = 1e15;

const EXPORT = {
  checkpoint: { trainRun: 'nightly', name: '000001' },
  directory: '/models/conductor',
  taskQueue: 'conductor-trainer',
  heartbeatMs: 1_000,
  timeoutMs: 60_000,
};
const GROUP = {
  trainRun: 'nightly',
  purpose: 'training',
  cycle: 1,
  draw: 0,
  question: { set: 'questions/1.jsonl', index: 0 },
  writer: 'prompted',
  plans: 2,
  window: 2,
  seed: 1,
  temperature: 1,
  workers: [modelCard('a')],
  recursion: { rounds: 1, rootDiscount: 0 },
  policy: { baseUrl: 'http://127.0.0.1:9/v1', timeoutMs: 1_000, patienceMs: 1_000 },
  run: { ...runOf([modelCard('a')]), limits: { steps: 3, calls: 10, wallClockMs: 60_000 } },
};
const WARM_START = {
  warmStart: {
    trainRun: 'nightly',
    name: 'warm',
    steps: 1,
    batch: 1,
    warmupSteps: 0,
    examples: { key: `examples/${'a'.repeat(64)}.jsonl` },
  },
  settings: {
    trainer: { taskQueue: 'conductor-trainer' },
    policy: { baseUrl: 'http://127.0.0.1:9/v1', patienceMs: 1_000 },
    budget: { wallClockMs: 60_000 },
    run: { heartbeatMs: 1_000 },
  },
};

test.each<readonly [workflow: string, words: string, input: unknown]>([
  [TRAIN_WORKFLOW, 'timeZone in the input of conductorTrain is "Mars/Olympus"', { timeZone: 'Mars/Olympus' }],
  [TRAIN_WORKFLOW, 'timeZone in the input of conductorTrain is "xxx', { timeZone: 'x'.repeat(100_000) }],
  [TRAIN_WORKFLOW, 'date in the input of conductorTrain is "2026-02-30"', { date: '2026-02-30' }],
  [TRAIN_WORKFLOW, 'cycles in the input of conductorTrain is 1000000000', { cycles: 1e9 }],
  [TRAIN_WORKFLOW, 'it must be a whole number from 1 to 10000', { cycles: 0.5 }],
  [TRAIN_WORKFLOW, 'it must be up to 63 small letters, digits and dashes', { trainRun: '../nightly' }],
  [TRAIN_WORKFLOW, 'it must be a checkpoint such as nightly/000040', { from: 'the last one' }],
  [TRAIN_WORKFLOW, 'has "carried", which only a night that goes on may have', { carried: { startedAt: 0 } }],
  [NIGHTLY_WORKFLOW, 'trainRun in the input of conductorTrainNightly is undefined', { date: '2026-11-21' }],
  [
    NIGHTLY_WORKFLOW,
    'trainRun in the input of conductorTrainNightly is "nnn',
    { trainRun: 'n'.repeat(2_000) },
  ],
  [NIGHTLY_WORKFLOW, 'trainRun in the input of conductorTrainNightly is undefined', null],
  [GROUP_WORKFLOW, 'plans in the input of conductorTrainGroup is 1000000000', { ...GROUP, plans: 1e9 }],
  [GROUP_WORKFLOW, 'workers in the input of conductorTrainGroup is []', { ...GROUP, workers: [] }],
  [GROUP_WORKFLOW, 'writer in the input of conductorTrainGroup is "policy"', { ...GROUP, writer: 'policy' }],
  [GROUP_WORKFLOW, 'temperature in the input of conductorTrainGroup is -1', { ...GROUP, temperature: -1 }],
  [GROUP_WORKFLOW, 'purpose in the input of conductorTrainGroup is "fun"', { ...GROUP, purpose: 'fun' }],
  [GROUP_WORKFLOW, 'it must be a list of 1 to 256 workers', { ...GROUP, workers: [{ id: 'a' }] }],
  [
    GROUP_WORKFLOW,
    'it must be a run as the configuration resolves to',
    { ...GROUP, run: { ...GROUP.run, conductor: { model: 'any' } } },
  ],
  [
    GROUP_WORKFLOW,
    'it must be a whole number of milliseconds, 24 days at most',
    { ...GROUP, run: { ...GROUP.run, limits: { ...GROUP.run.limits, wallClockMs: CENTURY_MS } } },
  ],
  [
    GROUP_WORKFLOW,
    'policy.patienceMs in the input of conductorTrainGroup is 1000000000000000',
    { ...GROUP, policy: { ...GROUP.policy, patienceMs: CENTURY_MS } },
  ],
  [
    WARM_START_WORKFLOW,
    'settings.budget.wallClockMs in the input of conductorWarmStart is -1',
    { ...WARM_START, settings: { ...WARM_START.settings, budget: { wallClockMs: -1 } } },
  ],
  [
    WARM_START_WORKFLOW,
    'warmStart.steps in the input of conductorWarmStart is 1000000000',
    { ...WARM_START, warmStart: { ...WARM_START.warmStart, steps: 1e9 } },
  ],
  [
    WARM_START_WORKFLOW,
    'warmStart.examples.key in the input of conductorWarmStart is "training/serving.json"',
    { ...WARM_START, warmStart: { ...WARM_START.warmStart, examples: { key: 'training/serving.json' } } },
  ],
  [
    WARM_START_WORKFLOW,
    'init.base.texts.key in the input of conductorWarmStart is "answers/',
    { ...WARM_START, init: { base: { texts: { key: `answers/${'a'.repeat(64)}.jsonl` } } } },
  ],
  [
    WARM_START_WORKFLOW,
    'init.base.path in the input of conductorWarmStart is "////',
    { ...WARM_START, init: { base: { kind: 'folder', path: '/'.repeat(9_999) } } },
  ],
  [
    EXPORT_WORKFLOW,
    'timeoutMs in the input of conductorExportCheckpoint',
    { ...EXPORT, timeoutMs: CENTURY_MS },
  ],
  [
    EXPORT_WORKFLOW,
    'heartbeatMs in the input of conductorExportCheckpoint is 0',
    { ...EXPORT, heartbeatMs: 0 },
  ],
  [EXPORT_WORKFLOW, 'a text of 1 to 4096 characters', { ...EXPORT, directory: '/'.repeat(9_999) }],
  [
    EXPORT_WORKFLOW,
    'taskQueue in the input of conductorExportCheckpoint is ""',
    { ...EXPORT, taskQueue: '' },
  ],
])('%s refuses: %s', async (workflow, words, input) => {
  const { client } = stage.temporal;
  const run = client.workflow.execute(workflow, {
    workflowId: randomUUID(),
    taskQueue: stage.taskQueue,
    args: [input],
    workflowExecutionTimeout: '10s',
  });
  const failure: unknown = await run.catch((error: unknown) => error);
  const { cause } = failure as WorkflowFailedError;
  expect(cause).toMatchObject({ type: FAILURES.badInput });
  expect(cause?.message).toContain(words);
  expect(cause?.message.length).toBeLessThan(300);
});

test.each<readonly [words: string, budget: unknown]>([
  ['costUsd is 1000000000', { costUsd: 1e9 }],
  ['hours is 169', { hours: 169 }],
  ['hours is "xxx', { hours: 'x'.repeat(100_000) }],
  ['a budget has no "xxx', { ['x'.repeat(100_000)]: 1 }],
  ['not "xxx', 'x'.repeat(100_000)],
])('a night refuses a budget: %s', async (words, budget) => {
  const { client } = stage.temporal;
  stage.providers.hold('a');
  const workflowId = randomUUID();
  const args = [{ trainRun: workflowId, date: '2026-01-10' }];
  const handle = await client.workflow.start(TRAIN_WORKFLOW, {
    workflowId,
    taskQueue: stage.taskQueue,
    args,
  });
  const update = handle.executeUpdate('setBudget', { args: [budget] });
  const refusal: unknown = await update.catch((error: unknown) => error);
  const { cause } = refusal as { cause: Error };
  expect(cause.message).toContain(words);
  expect(cause.message.length).toBeLessThan(300);
  await handle.terminate();
});

test('a night of the longest limits that a configuration takes is trained and judged', async () => {
  const longest = await openScriptedTraining({ limits: { wallClock: '24d' }, training: { window: 1 } });
  try {
    await longest.whileWorking(async () => {
      await longest.training.start({ trainRun: longest.trainRun, date: '2026-01-10' });
      expect(await longest.result()).toMatchObject({ status: 'done', done: 1 });
    });
  } finally {
    await longest.close();
  }
});
