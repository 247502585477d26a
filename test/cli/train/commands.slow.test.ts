import { ConductorClient, openStore } from '../../../src';
import { sayResumed } from '../../../src/cli/kit/view/follow-run';
import type { Session } from '../../../src/cli/kit/session';
import { removeSchedule } from '../../../src/training/client';
import { loadTrainableConfig } from '../../../src/training/config';
import { toJsonLines } from '../../../research/world/questions';
import { readServing, writeManifest } from '../../../src/training/policy/serving';
import { endedWith, type Ended } from '../command';
import { poolAt } from '../folder';
import { useFolder } from '../stage';
import { aManifest } from '../../support/a-manifest';
import { row } from '../../training/activities/questions';
import { connect, testTaskQueue, type TestTemporal } from '../../support/temporal';
import { until } from '../../support/until';

const stage = useFolder();
let temporal: TestTemporal;
let trainRun: string;

beforeAll(async () => {
  temporal = await connect();
});

afterAll(() => temporal.close());

beforeEach(async () => {
  const taskQueue = testTaskQueue();
  trainRun = `cli-${taskQueue.slice(-12)}`;
  await stage.folder.write(
    'conductor.yaml',
    poolAt('http://127.0.0.1:9', {
      temporal: { taskQueue },
      training: {
        run: trainRun,
        base: { kind: 'folder', path: 'models/qwen' },
        data: { train: 'train.jsonl', heldOut: 'held-out.jsonl' },
        policy: { baseUrl: 'http://127.0.0.1:9/v1' },
      },
    }),
  );
});

afterEach(() => removeSchedule(temporal.client, trainRun));

const atServer = () => ({ env: { TEMPORAL_ADDRESS: temporal.address, TZ: 'UTC' } });
const train = (...args: string[]): Promise<Ended> => stage.start(['train', ...args], atServer()).ended;

/** Returns the line about resumed work that a command with a worker prints when it uses the folder's own server. */
async function resumedIn(): Promise<string> {
  const { client, address } = temporal;
  const { config } = await loadTrainableConfig({ cwd: stage.folder.path, env: {} });
  const store = openStore('sqlite:store.db', stage.folder.path);
  const conductor = new ConductorClient({ client, store, taskQueue: config.temporal.taskQueue });
  const server = { embedded: true, address, namespace: 'default' };
  const stderr = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  await sayResumed({ conductor, server, temporal: client, config } as unknown as Session);
  const said = stderr.mock.calls.map(([line]) => String(line)).join('');
  stderr.mockRestore();
  return said;
}

test('a schedule can be created, shown, changed, paused, resumed and removed', async () => {
  const made = await train('schedule', '--at', '02:30', '--timezone', 'Europe/Berlin');
  expect(made.stdout).toMatch(new RegExp(`^train-${trainRun} next .*, 02:3[01].* \\(Europe/Berlin\\)`));

  const changed = await train('schedule', '--cron', '0 4 * * 1-5', '--timezone', 'Europe/Berlin');
  expect(changed).toMatchObject({ code: 0, stdout: expect.stringMatching(/ next .*, 04:0[01]/) as string });

  const refused = await train('schedule', '--cron', '61 4 * * *');
  expect(refused).toMatchObject(endedWith(2, /the server refuses --cron "61 4 \* \* \*": .*\n$/));

  const held = 'is paused: paused by "train schedule --pause"';
  expect((await train('schedule', '--pause')).stdout).toContain(held);
  expect((await train('schedule', '--resume')).stdout).toContain(' next ');
  expect((await train('schedule', '--remove')).stderr).toContain('no longer has a schedule');
  expect(await train('schedule')).toMatchObject(endedWith(2, 'has no schedule'));
});

test('a night can be started, paused, resumed and stopped; a second one is refused meanwhile', async () => {
  expect(await train('start', '--cycles', '10001')).toMatchObject(
    endedWith(2, 'Expected a whole number from 1 to 10000.'),
  );
  for (const file of ['train.jsonl', 'held-out.jsonl']) {
    const rows = Array.from({ length: 20 }, (_, index) => row(`${file}-${index}`));
    await stage.folder.write(file, toJsonLines(rows));
  }
  const begun = await train('start', '--date', '2026-11-21', '--cycles', '2');
  expect(begun).toMatchObject({ code: 0, stdout: `train-${trainRun}\n` });
  expect(begun.stderr).toMatch(
    /^Note: Questions: 20 held-out questions are few: .* detecting 0\.05 takes about 400 questions\.\n/m,
  );
  expect(begun.stderr).toMatch(/No worker polls task queue .* Start one with: temporal-conductor worker\n/);
  expect(begun.stderr).toMatch(/^Missing: Trainer: none listens on task queue .*: start it with /m);
  const handle = temporal.client.workflow.getHandle(`train-${trainRun}`);
  try {
    expect(await handle.describe()).toMatchObject({ type: 'conductorTrain', priority: { priorityKey: 5 } });
    expect(await train('start')).toMatchObject(endedWith(1, 'is under way already'));
    // The server lists the night a moment after its start.
    const said = await until(resumedIn, (lines) => lines !== '');
    expect(said).toContain(
      `  train-${trainRun}: stop it with temporal-conductor train stop --run ${trainRun}\n`,
    );
    for (const order of [['pause'], ['resume'], ['stop'], ['stop', '--now']]) {
      expect(await train(...order)).toMatchObject({ code: 0 });
    }
    const { events } = await handle.fetchHistory();
    const heard = (events ?? []).flatMap((event) =>
      event.workflowExecutionCancelRequestedEventAttributes
        ? 'cancelled'
        : (event.workflowExecutionSignaledEventAttributes?.signalName ?? []),
    );
    expect(heard).toEqual(['pauseTraining', 'resumeTraining', 'stopTraining', 'cancelled']);
  } finally {
    await handle.terminate();
  }
  const none = `no night of training run ${trainRun} is under way`;
  expect(await train('pause')).toMatchObject(endedWith(1, none));
});

test('a night that cannot be opened is reported with the reason', async () => {
  const worker = await stage.startReady(['worker'], atServer());
  const over = /is under way; .*\nThe night failed to start: train\.jsonl does not exist \(looked in .*\n$/;
  expect(await train('start')).toMatchObject(endedWith(1, over));
  expect(await worker.end('SIGTERM')).toMatchObject({ code: 0 });
});

test('a person can promote, roll back and pin a checkpoint without a server', async () => {
  const store = openStore('sqlite:.conductor/store.db', stage.folder.path);
  for (const name of ['000004', '000007']) await writeManifest(store, aManifest({ trainRun, name }));
  // The folder's Conductor is a prompted one, so promoting does not change solves.
  expect((await train('promote', '4')).stderr).toBe(
    `${trainRun}/000004 serves now.\nPlans of solves are written by the configured Conductor (openai boss), whatever serves: ` +
      '"conductor: { provider: policy }" hands them to the checkpoint that serves.\n',
  );
  expect((await train('promote', `${trainRun}/000007`, '--reason', 'it is kinder')).code).toBe(0);
  const serving = { trainRun, name: '000007' };
  expect(await readServing(store)).toMatchObject({ serving, reason: 'it is kinder' });
  expect((await train('rollback')).stderr).toMatch(
    new RegExp(`${trainRun}/000004 serves again, .*\nPlans of solves are written by the configured`),
  );
  expect((await train('pin')).stderr).toContain('is pinned now');
  expect((await train('pin', '--off')).stderr).toContain('is not pinned now');
  expect(await train('promote', '9')).toMatchObject(endedWith(1, '000009 has no manifest'));
});

test('status and doctor name each missing part of a night with a remedy', async () => {
  await stage.folder.write('train.jsonl', '{"id": 7}\n');
  const missing = {
    Questions: 'train\\.jsonl is not in a format I know\\. Its rows have the fields id\\.',
    Trainer: 'none listens on task queue conductor-trainer .*: start it with "temporal-conductor train up"',
    'Policy server':
      'nothing answers at http://127\\.0\\.0\\.1:9/v1: start one there, .* or correct training\\.policy',
    Checkpoints: 'no folder models/qwen: put a model with its tokenizer there',
  };
  const { stderr } = await train('status');
  const doctor = await stage.start(['doctor'], atServer()).ended;
  expect(doctor.code).toBe(1);
  for (const [what, text] of Object.entries(missing)) {
    expect(stderr).toMatch(new RegExp(`Missing: ${what}: .*${text}`));
    expect(doctor.stdout).toMatch(new RegExp(`✗ ${what} +.*${text}`));
  }
});

test('status and list say that nothing was trained yet', async () => {
  const { stdout } = await train('status');
  expect(stdout).toMatch(new RegExp(`^No night of ${trainRun} has started yet\\.[^]*^schedule none$`, 'm'));
  const json: unknown = JSON.parse((await train('status', '--json')).stdout);
  expect(json).toMatchObject({ trainRun, night: null, schedule: null });
  expect((await train('list')).stderr).toContain('No night was trained in sqlite:');
});
