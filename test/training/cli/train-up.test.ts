import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { TrainableInput } from '../../../src/training';
import { closedPort } from '../../cli/closed-port';
import type { RunningCommand } from '../../cli/command';
import { poolAt, serverRuns } from '../../cli/folder';
import { useFolder } from '../../cli/stage';
import { until, untilGone } from '../../support/until';
import { installStandIn, startsOf } from './stand-in-programs';

const stage = useFolder();
let baseUrl: string;
let PATH: string;

beforeEach(async () => {
  baseUrl = `http://127.0.0.1:${await closedPort()}/v1`;
  PATH = await installStandIn(stage.folder);
  await configure();
});

async function configure(training: TrainableInput['training'] = {}): Promise<void> {
  const config: TrainableInput = {
    ...poolAt('http://127.0.0.1:1'),
    training: {
      profile: 'cpu-demo',
      data: { train: 'questions.jsonl', heldOut: 'held-out.jsonl' },
      policy: { baseUrl },
      ...training,
    },
  };
  await stage.folder.write('conductor.yaml', config);
}

const startTrainUp = (): RunningCommand => stage.start(['train', 'up'], { env: { PATH } });

async function pidsOf(): Promise<number[]> {
  const starts = await Promise.all([
    startsOf(stage.folder, 'worker'),
    startsOf(stage.folder, 'policy-server'),
  ]);
  return starts.flat().map(({ pid }) => pid);
}

test('starts all that a night needs with the right addresses, keeps it running, and stops it on Ctrl-C', async () => {
  await stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
  const init = ['train', 'init', '--policy-server', baseUrl, '--checkpoints', 'kept'];
  expect(await stage.start(init).ended).toMatchObject({ code: 0 });
  const up = startTrainUp();
  const [, address = ''] = await up.hear(/^Temporal +(\S+),/m);
  await up.hear(/^Ready/m);
  const [trainer] = await startsOf(stage.folder, 'worker');
  const [server] = await startsOf(stage.folder, 'policy-server');
  expect(trainer?.address).toBe(address);
  const place = (name: string): string => join(stage.folder.path, name);
  const shared = `--artifacts ${place('.conductor/artifacts')} --checkpoints ${place('kept')} --end-with-stdin`;
  expect(trainer?.args.join(' ')).toBe(
    `--allow-server ${baseUrl} --export-root ${place('exported')} --task-queue conductor-trainer --namespace default ` +
      `--drain-seconds 25 ${shared}`,
  );
  expect(server?.args.join(' ')).toBe(`--host 127.0.0.1 --port ${new URL(baseUrl).port} ${shared}`);
  process.kill(trainer?.pid ?? 0, 'SIGKILL');
  await up.hear(/The trainer in process \d+ was killed by SIGKILL.*again[^]*The trainer is working again/);
  expect(await startsOf(stage.folder, 'worker')).toHaveLength(2);
  up.signal('SIGINT');
  const { code, stderr } = await up.ended;
  expect({ code, stderr }).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Waiting for [^]*^Trainer +/m) as string,
  });
  await untilGone(...(await pidsOf()));
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('leaves nothing running when it is killed, and uses base model and policy server that are there', async () => {
  const path = join(stage.folder.path, 'models', 'small');
  await mkdir(path, { recursive: true });
  await configure({ base: { kind: 'folder', path: 'models/small' } });
  const given = createServer((_, response) => response.end('{}')).listen(
    Number(new URL(baseUrl).port),
    '127.0.0.1',
  );
  await once(given, 'listening');
  try {
    const up = startTrainUp();
    await up.hear(new RegExp(`^Policies +${baseUrl}, a server that was started elsewhere`, 'm'));
    await up.hear(/^Ready/m);
    up.signal('SIGKILL');
    const pids = await pidsOf();
    expect(pids).toHaveLength(1);
    const [trainer] = await startsOf(stage.folder, 'worker');
    expect(trainer?.args.join(' ')).toContain(`--base-root ${path}`);
    await up.ended;
    await untilGone(...pids);
    await until(
      () => serverRuns(stage.folder),
      (runs) => !runs,
    );
  } finally {
    given.closeAllConnections();
    given.close();
  }
});

test('runs once in a stage.folder, beside an `up`: a second one names the process of the first', async () => {
  const first = startTrainUp();
  await first.hear(/^Ready/m);
  expect(await startTrainUp().ended).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      `"train up" runs in this folder already, in process ${first.pid}: use that one, or stop it first ("kill ${first.pid}")`,
    ) as string,
  });
  const up = stage.start(['up']);
  await up.hear(/^Ready/m);
  up.signal('SIGINT');
  expect((await up.ended).code).toBe(0);
  const pids = await pidsOf();
  expect(pids).toHaveLength(2);
  first.signal('SIGKILL');
  await first.ended;
  await untilGone(...pids);
  const next = startTrainUp();
  await next.hear(/^Ready/m);
  next.signal('SIGINT');
  expect((await next.ended).code).toBe(0);
});

test('ends with the reason, and stops the rest, where one of them cannot start', async () => {
  await stage.folder.write('worker.broken', '');
  const { code, stderr } = await startTrainUp().ended;
  expect({ code, stderr }).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The worker cannot start: it is broken.') as string,
  });
  await untilGone(...(await pidsOf()));
  expect(await serverRuns(stage.folder)).toBe(false);
});

test('a missing model, a missing trainer and a missing section are named before anything is started', async () => {
  const trainUp = (env: Record<string, string>) =>
    stage.start(['train', 'up'], { env: { CONDUCTOR_CACHE: stage.folder.path, ...env } }).ended;
  expect(await trainUp({ PATH: process.env.PATH ?? '' })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /trainer is not installed: make .* with "node \S+prepare-trainer\.mjs"/,
    ) as string,
  });
  expect(await trainUp({ PATH, TRAINER_PYTHON: '/no/python' })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'TRAINER_PYTHON is /no/python, which is no absolute path of a file that is there',
    ) as string,
  });
  await configure({ base: { kind: 'folder', path: 'models/small' } });
  expect(await trainUp({ PATH })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'training.base.path is models/small, and there is no such folder',
    ) as string,
  });
  await stage.folder.write('conductor.yaml', poolAt('http://127.0.0.1:1'));
  expect(await trainUp({ PATH })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(
      'no "training:": have it written with "temporal-conductor train init"',
    ) as string,
  });
});
