import { randomUUID } from 'node:crypto';
import { ApplicationFailure } from '@temporalio/client';
import { FAILURES } from '../../../src';
import type { WarmStartInput } from '../../../src/training/inputs';
import {
  GROUP_WORKFLOW,
  NIGHTLY_WORKFLOW,
  TRAIN_WORKFLOW,
  WARM_START_WORKFLOW,
} from '../../../src/training/names';
import { checkInput, type CheckInputRequest } from '../../../src/training/activities/check-input';
import { askForWarmStart } from '../../../src/training/activities/data';
import { parseTrainable } from '../../../src/training/config/load';
import { resolveTraining, trainingOf } from '../../../src/training/config/resolve';
import type { TrainableConfig } from '../../../src/training';
import { externalCard, modelCard, runOf } from '../../budget/cards';
import { LESSON, openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';

let stage: ScriptedTraining;
let config: TrainableConfig;
let working: Promise<void>;
let stopWorking: () => void;
beforeAll(async () => {
  stage = await openScriptedTraining();
  config = parseTrainable(stage.config);
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
  trainRun: 'nightly',
  purpose: 'training',
  cycle: 1,
  draw: 0,
  question: { set: SET, index: 0 },
  writer: 'prompted',
  plans: 2,
  window: 2,
  seed: 1,
  temperature: 1,
  workers: [modelCard('a')],
  recursion: { rounds: 1, rootDiscount: 0 },
  reward: { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 0, lengthWeight: 0 },
  policy: {
    baseUrl: 'http://127.0.0.1:9/v1',
    prompt: 'compact',
    describe: 'names',
    temperature: 1,
    servingTemperature: 0,
    maxPromptTokens: 100,
    maxOutputTokens: 100,
    timeoutMs: 1_000,
    patienceMs: 1_000,
  },
  run: runOf([modelCard('a')]),
};

test.each<readonly [workflow: CheckInputRequest['workflow'], words: string, input: unknown]>([
  [TRAIN_WORKFLOW, 'timeZone is "Mars/Olympus"', { timeZone: 'Mars/Olympus' }],
  [TRAIN_WORKFLOW, 'date is "2026-02-30"', { date: '2026-02-30' }],
  [NIGHTLY_WORKFLOW, 'trainRun is missing', { date: '2026-11-21' }],
  [NIGHTLY_WORKFLOW, 'trainRun is "nnn', { trainRun: 'n'.repeat(2_000) }],
  [NIGHTLY_WORKFLOW, 'expected object', null],
  [GROUP_WORKFLOW, 'plans is 1000000000', { ...GROUP, plans: 1e9 }],
  [GROUP_WORKFLOW, 'reward is missing', { ...GROUP, reward: undefined }],
  [
    GROUP_WORKFLOW,
    'policy.patienceMs is 1000000000000000',
    { ...GROUP, policy: { ...GROUP.policy, patienceMs: CENTURY_MS } },
  ],
  [GROUP_WORKFLOW, 'verifier', { ...GROUP, verifier: externalCard('judge') }],
  [WARM_START_WORKFLOW, 'init is missing', {}],
])('%s refuses: %s', async (workflow, words, input) => {
  const refused = failureOf(() => checkInput({ config }, { workflow, input }));
  await expect(refused).resolves.toMatchObject({
    type: FAILURES.badInput,
    nonRetryable: true,
    message: expect.stringContaining(words) as string,
  });
  expect((await refused).message.length).toBeLessThan(300);
});

test('a group is taken as a night writes it', async () => {
  await checkInput({ config }, { workflow: GROUP_WORKFLOW, input: GROUP });
});

test('what is handed to the trainer is nothing else that lies in the store', async () => {
  const settings = resolveTraining(config);
  const lesson = await askForWarmStart(stage.store, trainingOf(config).base, LESSON, settings);
  const input: WarmStartInput = { ...lesson, settings };
  await checkInput({ config }, { workflow: WARM_START_WORKFLOW, input });
  const sha256 = 'a'.repeat(64);
  const forged = { key: `answers/${sha256}.jsonl`, sha256 };
  for (const [place, change] of [
    ['init.base', { init: { ...input.init, base: { ...input.init.base, texts: forged } } }],
    ['warmStart.examples.key', { warmStart: { ...input.warmStart, examples: forged } }],
  ] as const) {
    const refused = failureOf(() =>
      checkInput({ config }, { workflow: WARM_START_WORKFLOW, input: { ...input, ...change } }),
    );
    expect((await refused).message).toContain(place);
  }
});

async function failureOf(work: () => Promise<unknown>): Promise<ApplicationFailure> {
  try {
    await work();
  } catch (error) {
    if (error instanceof ApplicationFailure) return error;
    throw error;
  }
  throw new Error('it was taken');
}

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
