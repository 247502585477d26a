import { type ApplicationFailure, type WorkflowFailedError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createTrainingActivities } from '../../../src/training/activities';
import { askForWarmStart } from '../../../src/training/activities/data';
import { parseTrainable } from '../../../src/training/config/load';
import { resolveTraining, trainingOf, type TrainingSettings } from '../../../src/training/config/resolve';
import type { CarriedNight } from '../../../src/training/contract';
import type { ExportInput, GroupInput, WarmStartInput } from '../../../src/training/inputs';
import { checkpointsFolder } from '../../../src/training/store-keys';
import {
  EXPORT,
  EXPORT_WORKFLOW,
  GROUP_WORKFLOW,
  INIT,
  KEEP_CHECKPOINT,
  TRAIN_WORKFLOW,
  UPDATE,
  WARM_START,
  WARM_START_WORKFLOW,
} from '../../../src/training/names';
import { LESSON, openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { type ScriptedPolicy, startScriptedPolicy } from '../../support/scripted-policy';
import { testTaskQueue } from '../../support/temporal';

/*
 * Any client may start a workflow of training with settings of its own making. What the configuration of the worker does
 * not name is given nothing: no trainer at another queue, no other policy server.
 */

jest.setTimeout(120_000);

const OTHERS = testTaskQueue();
const CHECKPOINT = { name: 'base' };

let stage: ScriptedTraining;
let stranger: ScriptedPolicy;
let settings: TrainingSettings;
beforeEach(async () => {
  stage = await openScriptedTraining();
  stranger = await startScriptedPolicy(`${stage.trainRun}-base`);
  settings = resolveTraining(parseTrainable(stage.config));
});
afterEach(async () => {
  await stranger.close();
  await stage.close();
});

/** Starts a workflow with an input while a stranger listens on `OTHERS`, and returns why it failed, and who was asked. */
async function start(workflow: string, input: object): Promise<{ failure: unknown; asked: string[] }> {
  const asked: string[] = [];
  const note = (name: string) => () => {
    asked.push(name);
    throw new Error('a stranger was asked');
  };
  const types = [EXPORT, UPDATE, WARM_START, INIT];
  const worker = await Worker.create({
    connection: stage.temporal.nativeConnection,
    taskQueue: OTHERS,
    activities: Object.fromEntries(types.map((type) => [type, note(type)])),
  });
  const failure: unknown = await worker
    .runUntil(() =>
      stage.whileWorking(() =>
        stage.temporal.client.workflow.execute(workflow, {
          workflowId: `${stage.trainRun}-forged`,
          taskQueue: stage.taskQueue,
          args: [input],
          workflowExecutionTimeout: '20s',
        }),
      ),
    )
    .catch((error: unknown) => (error as WorkflowFailedError).cause);
  return { failure, asked };
}

const atOthers = (): TrainingSettings => ({
  ...settings,
  trainer: { ...settings.trainer, taskQueue: OTHERS },
});
const atStranger = (): TrainingSettings => ({
  ...settings,
  policy: { ...settings.policy, baseUrl: stranger.baseUrl },
});

const exported = (): ExportInput => ({
  checkpoint: { trainRun: stage.trainRun, ...CHECKPOINT },
  directory: '/exports/forged',
  taskQueue: OTHERS,
  heartbeatMs: 1_000,
  timeoutMs: 10_000,
});

async function warmStart(forged: TrainingSettings): Promise<WarmStartInput> {
  const { base } = trainingOf(parseTrainable(stage.config));
  return { ...(await askForWarmStart(stage.store, base, LESSON, settings)), settings: forged };
}

async function carried(forged: TrainingSettings): Promise<{ carried: CarriedNight }> {
  const { init } = await warmStart(settings);
  const checkpoint = { trainRun: stage.trainRun, ...CHECKPOINT };
  const set = { set: 'questions/none.jsonl', count: 1 };
  const night = { date: '2026-01-10', first: 1, last: 1 };
  return {
    carried: {
      opened: {
        settings: forged,
        night,
        isTrained: false,
        done: 0,
        from: checkpoint,
        writer: null,
        init,
        warmStart: null,
        train: { ...set, topics: [1] },
        heldOut: set,
        rolloutNanoUsd: null,
      },
      startedAt: Date.now(),
      begun: checkpoint,
      checkpoint,
      writer: checkpoint,
      done: 0,
      rollouts: 0,
      spentNanoUsd: 0,
      rewards: [],
      best: null,
      warning: null,
      budget: forged.budget,
      isPaused: false,
    },
  };
}

const otherBase = async (): Promise<WarmStartInput> => {
  const input = await warmStart(settings);
  return { ...input, init: { ...input.init, base: { kind: 'folder', path: '/models/strange' } } };
};

const QUEUE =
  /^the input names the trainer's queue test-\S+, and training\.trainer\.taskQueue is test-\S+ in/;
const BASE = /^the input names the base model \/models\/strange, and training\.base is tiny in/;
const SERVER = /^the input names the policy server http\S+, and training\.policy\.baseUrl is http\S+ in/;

test.each([
  ['an export at another queue', EXPORT_WORKFLOW, exported, QUEUE],
  ['a warm start at another queue', WARM_START_WORKFLOW, () => warmStart(atOthers()), QUEUE],
  ['a warm start from another model', WARM_START_WORKFLOW, otherBase, BASE],
  ['a warm start for another server', WARM_START_WORKFLOW, () => warmStart(atStranger()), SERVER],
] as const)('%s is refused, and no one is asked', async (_, workflow, input, message) => {
  const { failure, asked } = await start(workflow, await input());
  expect(asked).toEqual([]);
  expect(failure).toMatchObject({ type: 'Configuration.Invalid' });
  expect((failure as ApplicationFailure).message).toMatch(message);
  expect(stranger.requests).toEqual([]);
});

test('a night that never went on carries nothing', async () => {
  const { failure, asked } = await start(TRAIN_WORKFLOW, await carried(atOthers()));
  expect(asked).toEqual([]);
  expect(failure).toMatchObject({ type: 'Solve.BadInput' });
});

test('a group samples from no other server, and runs no worker that the configuration does not name', async () => {
  await stage.whileWorking(async () => {
    await stage.training.start({ trainRun: stage.trainRun, date: '2026-01-10' });
    await stage.result();
  });
  const { events } = await stage.temporal.client.workflow
    .getHandle(`${stage.trainRun}-000001-0`)
    .fetchHistory();
  const given = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  const input = JSON.parse(Buffer.from(given ?? []).toString()) as GroupInput;

  const elsewhere = { ...input, cycle: 2, policy: { ...input.policy, baseUrl: stranger.baseUrl } };
  const { failure } = await start(GROUP_WORKFLOW, elsewhere);
  expect(failure).toMatchObject({ cause: { type: 'Configuration.Invalid' } });
  expect(stranger.requests).toEqual([]);

  const card = { id: 'a', kind: 'activity', type: EXPORT, taskQueue: OTHERS, timeoutMs: 5_000, fallback: [] };
  const workers = [{ ...card, notes: null }, ...input.workers.filter(({ id }) => id !== 'a')];
  const forged = { ...input, cycle: 3, workers, run: { ...input.run, workers } };
  const { failure: refused, asked } = await start(GROUP_WORKFLOW, forged);
  expect(asked).toEqual([]);
  expect(refused).toMatchObject({ type: 'Configuration.Invalid' });
});

test('no manifest names another server', async () => {
  const activities = createTrainingActivities({
    config: parseTrainable(stage.config),
    store: stage.store,
  });
  const { checkpoint } = await stage.trainer[INIT]((await warmStart(settings)).init);
  const kept = activities[KEEP_CHECKPOINT]({ checkpoint, model: 'm', settings: atStranger() });
  await expect(kept).rejects.toMatchObject({ type: 'Configuration.Invalid' });
  expect(await stage.store.list(checkpointsFolder(stage.trainRun))).toEqual([]);
  await activities[KEEP_CHECKPOINT]({ checkpoint, model: 'm', settings });
  expect(await stage.store.list(checkpointsFolder(stage.trainRun))).toHaveLength(1);
});
