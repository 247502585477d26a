import { randomUUID } from 'node:crypto';
import type { WorkflowFailedError } from '@temporalio/client';
import { FAILURES } from '../../../src';
import { findFault, type Rules } from '../../../src/protocol/rules';
import type { WarmStartInput } from '../../../src/training/contract';
import {
  GROUP_WORKFLOW,
  NIGHTLY_WORKFLOW,
  TRAIN_WORKFLOW,
  WARM_START_WORKFLOW,
} from '../../../src/training/names';
import { checkWarmStart } from '../../../src/training/workflows/input';
import { externalCard, modelCard, runOf } from '../../budget/cards';
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

const SET = `questions/${'a'.repeat(64)}.jsonl`;
const GROUP = {
  ...{ trainRun: 'nightly', purpose: 'training', cycle: 1, draw: 0, question: { set: SET, index: 0 } },
  ...{ writer: 'prompted', plans: 2, window: 2, seed: 1, temperature: 1, workers: [modelCard('a')] },
  recursion: { rounds: 1, rootDiscount: 0 },
  reward: { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 0, lengthWeight: 0 },
  policy: {
    ...{ baseUrl: 'http://127.0.0.1:9/v1', prompt: 'compact', describe: 'names', temperature: 1 },
    ...{ servingTemperature: 0, maxPromptTokens: 100, maxOutputTokens: 100 },
    ...{ timeoutMs: 1_000, patienceMs: 1_000 },
  },
  run: runOf([modelCard('a')]),
};

test.each<readonly [workflow: string, words: string, input: unknown]>([
  [TRAIN_WORKFLOW, 'timeZone in the input of conductorTrain is "Mars/Olympus"', { timeZone: 'Mars/Olympus' }],
  [TRAIN_WORKFLOW, 'date in the input of conductorTrain is "2026-02-30"', { date: '2026-02-30' }],
  [
    TRAIN_WORKFLOW,
    'it must be left out: only a night that goes on may have it',
    { carried: { startedAt: 0 } },
  ],
  [NIGHTLY_WORKFLOW, 'trainRun in the input of conductorTrainNightly is missing', { date: '2026-11-21' }],
  [
    NIGHTLY_WORKFLOW,
    'trainRun in the input of conductorTrainNightly is "nnn',
    { trainRun: 'n'.repeat(2_000) },
  ],
  [NIGHTLY_WORKFLOW, 'the input of conductorTrainNightly is null: it must be one object, { tr', null],
  [GROUP_WORKFLOW, 'it must be a whole number from 1 to 1024', { ...GROUP, plans: 1e9 }],
  [GROUP_WORKFLOW, 'reward in the input of conductorTrainGroup is missing', { ...GROUP, reward: undefined }],
  [
    GROUP_WORKFLOW,
    'policy.patienceMs in the input of conductorTrainGroup is 1000000000000000',
    { ...GROUP, policy: { ...GROUP.policy, patienceMs: CENTURY_MS } },
  ],
  [GROUP_WORKFLOW, 'verifier.kind', { ...GROUP, verifier: externalCard('judge') }],
  [WARM_START_WORKFLOW, 'init in the input of conductorWarmStart is missing', {}],
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
  expect(stage.providers.log).toEqual([]);
});

test('what is handed to the trainer is nothing else that lies in the store', () => {
  const forged = { kind: 'tiny', texts: { key: `answers/${'a'.repeat(64)}.jsonl`, sha256: 'a'.repeat(64) } };
  const input = { init: { trainRun: 'nightly', base: forged, config: {} } } as unknown as WarmStartInput;
  expect(() => {
    checkWarmStart(WARM_START_WORKFLOW, input);
  }).toThrow('init.base in the input of conductorWarmStart is {"kind":"tiny"');
});

test('a field without a rule does not compile', () => {
  // @ts-expect-error: optional, and a rule is missing all the same
  const rules: Rules<{ readonly given?: string }> = {};
  expect(findFault('any', {}, rules)).toBeNull();
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
