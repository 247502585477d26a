import { type ApplicationFailure, type WorkflowFailedError } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { createTrainingActivities } from '../../../src/training/activities';
import { askForWarmStart } from '../../../src/training/client';
import {
  parseTrainable,
  resolveTraining,
  trainingOf,
  type TrainingSettings,
} from '../../../src/training/config';
import type { ExportInput, GroupInput, WarmStartInput } from '../../../src/training/inputs';
import { checkpointsFolder } from '../../../src/training/store-keys';
import * as names from '../../../src/training/names';
import { externalCard } from '../../budget/cards';
import { replaced } from '../../support/mangled';
import { LESSON, openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { type ScriptedPolicy, startScriptedPolicy } from '../../support/scripted-policy';
import { testTaskQueue } from '../../support/temporal';

/*
 * Any client may start a training workflow with forged settings. The workflow must not contact anything that the
 * worker's configuration does not name: no trainer on another queue, no other policy server.
 */

jest.setTimeout(120_000);

const OTHERS = testTaskQueue();

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

/** Runs a workflow while a stranger polls `OTHERS`; returns the failure and the stranger's activities that ran. */
async function start(workflow: string, input: object): Promise<{ failure: unknown; asked: string[] }> {
  const asked: string[] = [];
  const note = (name: string) => () => {
    asked.push(name);
    throw new Error('a stranger was asked');
  };
  const types = [names.EXPORT, names.UPDATE, names.WARM_START, names.INIT];
  const { client, nativeConnection: connection } = stage.temporal;
  const activities = Object.fromEntries(types.map((type) => [type, note(type)]));
  const worker = await Worker.create({ connection, taskQueue: OTHERS, activities });
  const execute = () =>
    client.workflow.execute(workflow, {
      workflowId: `${stage.trainRun}-forged`,
      taskQueue: stage.taskQueue,
      args: [input],
      workflowExecutionTimeout: '90s',
    });
  const failure: unknown = await worker
    .runUntil(() => stage.whileWorking(execute))
    .catch((error: unknown) => (error as WorkflowFailedError).cause);
  return { failure, asked };
}

const forged = <Value>(value: Value, field: string, by: unknown): Value =>
  replaced(value, field.split('.'), by) as Value;
const atOthers = () => forged(settings, 'trainer.taskQueue', OTHERS);
const atStranger = () => forged(settings, 'policy.baseUrl', stranger.baseUrl);

const exported = (): ExportInput => ({
  checkpoint: { trainRun: stage.trainRun, name: 'base' },
  directory: '/exports/forged',
  taskQueue: OTHERS,
  heartbeatMs: 1_000,
  timeoutMs: 10_000,
});

async function warmStart(given: TrainingSettings): Promise<WarmStartInput> {
  const { base } = trainingOf(parseTrainable(stage.config));
  return { ...(await askForWarmStart(stage.store, base, LESSON, settings)), settings: given };
}

const STRANGE = { kind: 'folder', path: '/models/strange' };
const otherBase = async () => forged(await warmStart(settings), 'init.base', STRANGE);

const QUEUE =
  /^the input names the trainer's queue test-\S+, and training\.trainer\.taskQueue is test-\S+ in/;
const BASE = /^the input names the base model \/models\/strange, and training\.base is tiny in/;
const SERVER = /^the input names the policy server http\S+, and training\.policy\.baseUrl is http\S+ in/;

test.each([
  ['an export at another queue', names.EXPORT_WORKFLOW, exported, QUEUE],
  ['a warm start at another queue', names.WARM_START_WORKFLOW, () => warmStart(atOthers()), QUEUE],
  ['a warm start from another model', names.WARM_START_WORKFLOW, otherBase, BASE],
  ['a warm start for another server', names.WARM_START_WORKFLOW, () => warmStart(atStranger()), SERVER],
] as const)('%s is refused without asking anyone', async (_, workflow, input, message) => {
  const { failure, asked } = await start(workflow, await input());
  expect(asked).toEqual([]);
  expect(failure).toMatchObject({ type: 'Configuration.Invalid' });
  expect((failure as ApplicationFailure).message).toMatch(message);
  expect(stranger.requests).toEqual([]);
});

test('a new night is refused if its input carries state of an earlier one', async () => {
  const { failure, asked } = await start(names.TRAIN_WORKFLOW, {
    carried: { opened: { settings: atOthers() } },
  });
  expect(asked).toEqual([]);
  expect(failure).toMatchObject({ type: 'Solve.BadInput' });
});

test('a group samples from no other server, and runs no worker that the configuration does not name', async () => {
  await stage.whileWorking(() => stage.train());
  const group = stage.temporal.client.workflow.getHandle(`${stage.trainRun}-000001-0`);
  const { events } = await group.fetchHistory();
  const given = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]?.data;
  const input = JSON.parse(Buffer.from(given ?? []).toString()) as GroupInput;

  const elsewhere = forged({ ...input, cycle: 2 }, 'policy.baseUrl', stranger.baseUrl);
  const { failure } = await start(names.GROUP_WORKFLOW, elsewhere);
  expect(failure).toMatchObject({ cause: { type: 'Configuration.Invalid' } });
  expect(stranger.requests).toEqual([]);

  const card = { ...externalCard('a'), type: names.EXPORT, taskQueue: OTHERS };
  const workers = [card, ...input.workers.filter(({ id }) => id !== 'a')];
  const withCard = { ...input, cycle: 3, workers, run: { ...input.run, workers } };
  const { failure: refused, asked } = await start(names.GROUP_WORKFLOW, withCard);
  expect(asked).toEqual([]);
  expect(refused).toMatchObject({ type: 'Configuration.Invalid' });
});

test('a manifest that names another server is refused', async () => {
  const activities = createTrainingActivities({ config: parseTrainable(stage.config), store: stage.store });
  const { checkpoint } = await stage.trainer[names.INIT]((await warmStart(settings)).init);
  const kept = activities[names.KEEP_CHECKPOINT]({ checkpoint, model: 'm', settings: atStranger() });
  await expect(kept).rejects.toMatchObject({ type: 'Configuration.Invalid' });
  expect(await stage.store.list(checkpointsFolder(stage.trainRun))).toEqual([]);
  await activities[names.KEEP_CHECKPOINT]({ checkpoint, model: 'm', settings });
  expect(await stage.store.list(checkpointsFolder(stage.trainRun))).toHaveLength(1);
});
