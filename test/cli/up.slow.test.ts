import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { promisify } from 'node:util';
import type { WorkerStatus } from '@temporalio/worker';
import { serveHealth } from '../../src/cli/serve/serve';
import { GATEWAY_PORT } from '../../src/cli/serve/gateway';
import { endedWith, type RunningCommand } from './command';
import { serverRuns } from './folder';
import { PLAN, useStage } from './stage';
import { workerOf } from './worker-of';
import { closedPort } from '../support/closed-port';
import { until, untilGone } from '../support/until';

// Commands start one after the other, each in some seconds: on a busy machine, in many more.
jest.setTimeout(240_000);

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris' } });
const { start, startReady, run } = stage;

/** Returns a function that sends the request of the printed command. */
async function askerOf(command: RunningCommand): Promise<() => Promise<Response>> {
  const shown = await command.hear(/^Try +curl (\S+) -H '([^']+)' -H '([^']+)' -d '([^']+)'$/m);
  const [url = '', authorization = '', , body = ''] = shown.slice(1);
  const headers = {
    authorization: authorization.replace('Authorization: ', ''),
    'content-type': 'application/json',
  };
  return () => fetch(url, { method: 'POST', headers, body });
}

describe('`up`, ready in a folder', () => {
  let up: RunningCommand;
  beforeEach(async () => {
    up = await startReady(['up']);
  });

  test('a worker that is killed is restarted, and its run continues', async () => {
    const release = stage.providers.hold('alpha');
    const solving = start(['solve', 'Where?', '--detach']);
    const id = (await solving.ended).stdout.trim();
    await stage.providers.waitForRequest(({ model }) => model === 'alpha');
    const first = await workerOf(up);
    process.kill(first, 'SIGKILL');
    await up.hear(new RegExp(`process ${first} was killed by SIGKILL.*again`));
    release();
    const watched = await start(['watch', id]).ended;
    expect(watched).toMatchObject({ code: 0, stdout: 'Paris\n' });
    expect(await workerOf(up)).not.toBe(first);
  });

  test('Ctrl-C: the gateway answers what is under way before the worker and the server end', async () => {
    const release = stage.providers.hold('alpha');
    const answer = (await askerOf(up))();
    await stage.providers.waitForRequest(({ model }) => model === 'alpha');
    up.signal('SIGINT');
    await up.hear(/Draining: requests under way have 25 s/);
    release();
    expect(await (await answer).json()).toMatchObject({ choices: [{ message: { content: 'Paris' } }] });
    expect((await up.ended).code).toBe(0);
  });

  test('a second Ctrl-C ends at once, whatever is under way', async () => {
    const release = stage.providers.hold('alpha');
    const answer = (await askerOf(up))().catch(() => 'cut off');
    await stage.providers.waitForRequest(({ model }) => model === 'alpha');
    up.signal('SIGINT');
    await up.hear(/Draining: requests under way have 25 s/);
    up.signal('SIGINT');
    expect((await up.ended).code).toBe(130);
    expect(await answer).toBe('cut off');
    release();
  });

  test('the printed link signs a browser in once', async () => {
    const [, url = '', link = ''] = await up.hear(/^Page +(\S+)\/#link=(\S+) \(signs in once\)$/m);
    const signIn = (): Promise<Response> =>
      fetch(`${url}/session`, {
        method: 'POST',
        headers: { origin: url, 'content-type': 'application/json' },
        body: JSON.stringify({ link }),
      });
    expect([(await signIn()).status, (await signIn()).status]).toEqual([200, 401]);
  });

  test('a worker outlives its `up` only as long as it needs to drain', async () => {
    const pid = await workerOf(up);
    up.signal('SIGKILL');
    // The output of `up` ends with the last of its processes.
    expect((await up.ended).stderr).toContain('Ready');
    await untilGone(pid);
    // The server was killed, and counts as gone once the system has noticed.
    await until(
      () => serverRuns(stage.folder),
      (runs) => !runs,
    );
  });

  test('a worker for a server elsewhere reports over HTTP whether it polls', async () => {
    const [, address = ''] = await up.hear(/^Temporal +(\S+),/m);
    const env = { TEMPORAL_ADDRESS: address };
    const worker = start(['worker', '--health', '0'], { env });
    const [, health = ''] = await worker.hear(/^Health +(\S+)\nReady/m);
    expect(await (await fetch(health)).json()).toEqual({ healthy: true, state: 'polling' });
    const { port } = new URL(health);
    const second = await start(['worker', '--health', port], { env }).ended;
    expect(second).toMatchObject(endedWith(2, 'choose another'));
    expect((await worker.end('SIGTERM')).code).toBe(0);
  });
});

test('the gateway answers the printed command, and after a kill returns with the same address and key', async () => {
  const other = createServer();
  // If another program already has the usual port, that serves as well.
  await once(other.listen(GATEWAY_PORT, '127.0.0.1'), 'listening').catch(() => undefined);
  const up = await startReady(['up']);
  const ask = await askerOf(up);
  expect(await (await ask()).json()).toMatchObject({ choices: [{ message: { content: 'Paris' } }] });
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(up.pid), '-f', 'up-gateway']);
  other.close();
  process.kill(Number(stdout), 'SIGKILL');
  await up.hear(/The gateway is working again/);
  expect((await ask()).status).toBe(200);
});

test("`up --metrics`: the gateway shows the worker's metrics, a restarted worker's too, and all lines are JSON", async () => {
  const port = await closedPort();
  const up = start(['up', '--metrics', String(port), '--log-format', 'json']);
  await up.hear(/"message":"Ready/);
  const [, url = ''] = await up.hear(/Gateway +(\S+)\/v1 /);
  const [, key = ''] = await up.hear(/Key +(\S+?)\\n/);
  const read = async (): Promise<string> => {
    const response = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${key}` } });
    return response.text();
  };
  const counted = /^conductor_model_calls_total\{.*model="boss".*\} (\d+)$/m;
  expect(await read()).not.toMatch(counted);
  expect(await run('solve', 'Where?')).toMatchObject({ code: 0 });
  expect(await read()).toMatch(/^temporal_conductor_gateway_streams_open 0$/m);
  expect(counted.exec(await read())?.[1]).toBe('1');
  process.kill(await workerOf(up), 'SIGKILL');
  await up.hear(/"level":"WARN".*was killed by SIGKILL[^]*The worker is working again/);
  expect(await read()).toMatch(/^temporal_worker_task_slots_available\{/m);
  const { stderr } = await up.end('SIGINT');
  for (const line of stderr.trim().split('\n')) expect(JSON.parse(line)).toHaveProperty('message');
});

test.each([
  [{ runState: 'STOPPED' }, 'the worker is stopped'],
  [{ workflowPollerState: 'SHUTDOWN' }, 'polling for workflows: SHUTDOWN, for activities: POLLING'],
] as const)('a worker that is %j is not healthy', async (changes, state) => {
  const polling = { runState: 'RUNNING', workflowPollerState: 'POLLING', activityPollerState: 'POLLING' };
  const health = await serveHealth(0, { status: () => ({ ...polling, ...changes }) as WorkerStatus });
  const response = await fetch(health.url);
  expect([response.status, await response.json()]).toEqual([503, { healthy: false, state }]);
  await health.close();
});
