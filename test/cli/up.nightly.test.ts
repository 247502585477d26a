import { closedPort } from '../support/closed-port';
import { endedWith, type RunningCommand } from './command';
import { poolAt, serverRuns } from './folder';
import { PLAN, useStage } from './stage';
import { workerOf } from './worker-of';

// Commands start one after the other, each in some seconds: on a busy machine, in many more.
jest.setTimeout(240_000);

const stage = useStage({ boss: { answer: PLAN }, alpha: { answer: 'Paris' } });
const { start, startReady, run } = stage;

describe('`up`, ready in a folder', () => {
  let up: RunningCommand;
  beforeEach(async () => {
    up = await startReady(['up']);
  });

  test('five crashes in a row end `up` with the reason, and end its server', async () => {
    for (let death = 1; death <= 5; death += 1) {
      const pid = await workerOf(up);
      process.kill(pid, 'SIGSEGV');
      if (death < 5)
        await up.hear(new RegExp(`process ${pid} was killed by SIGSEGV.*again[^]*is working again`));
    }
    expect(await up.ended).toMatchObject(
      endedWith(1, /crashed 5 times, the last time it was killed by SIGSEGV/),
    );
    expect(await serverRuns(stage.folder)).toBe(false);
  });

  test('`up` takes the port that it is given, and refuses one that is taken', async () => {
    // Other tests use the usual port as soon as it is free.
    const given = String(await closedPort());
    await up.end('SIGINT');
    up = await startReady(['up', '--port', given]);
    await up.hear(new RegExp(`^Page +http://127\\.0\\.0\\.1:${given}/#link=`, 'm'));
    expect(await run('up', '--port', given)).toMatchObject(
      endedWith(2, `port ${given} is taken: choose another one with --port`),
    );
  });

  test('until a restart, runs keep the configuration that the worker read, and say so', async () => {
    await stage.folder.write('conductor.yaml', poolAt(stage.providers.url, { limits: { steps: 3 } }));
    await up.hear(/conductor\.yaml has changed: restart "up" to use it/);
    const solved = await run('solve', 'Where?', '--detach');
    expect(solved.stderr).toContain('read another version of the configuration (limits.steps)');
    await up.end('SIGINT');
    up = await startReady(['up']);
    expect((await run('solve', 'Where?', '--detach')).stderr).not.toContain('another version');
  });

  test('no run starts where no worker polls, and a run whose worker has gone is reported to whoever watches it', async () => {
    await stage.folder.write('other.yaml', poolAt(stage.providers.url));
    const other = ['--config', 'other.yaml'];
    const refused = await run('solve', 'Where?', '--detach', ...other);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    const [, ...beside] = /: temporal-conductor (up) (--config) (\S+)\n$/.exec(refused.stderr) ?? [];
    expect(refused.stderr).toContain('no worker of this folder polls task queue conductor@other.yaml');

    const release = stage.providers.hold('alpha');
    let second = await startReady(beside);
    const { stdout } = await run('solve', 'Where?', '--detach', ...other);
    await stage.providers.waitForRequest(({ model }) => model === 'alpha');
    second.signal('SIGINT');
    await second.end('SIGINT');
    release();

    const watching = start(['watch', stdout.trim()]);
    const [, ...again] = await watching.hear(
      /No worker polls task queue conductor@other\.yaml at .* Start one with: temporal-conductor (up) (--config) (\S+)/,
    );
    second = start(again);
    expect(await watching.ended).toMatchObject({ code: 0, stdout: 'Paris\n' });
    await second.end('SIGINT');
  });
});

test.each(['activity', 'workflow'] as const)(
  'a run that waits for a pool %s on a queue without a worker says so, with a remedy',
  async (provider) => {
    const { workers, ...pool } = poolAt(stage.providers.url);
    const legal = { id: 'alpha', provider, type: 'checkContract', taskQueue: 'legal' } as const;
    await stage.folder.write('conductor.yaml', { ...pool, workers: [legal, ...workers.slice(1)] });
    await startReady(['up']);
    const solving = start(['solve', 'Where?']);
    await solving.hear(
      new RegExp(
        `No worker polls task queue legal at \\S+, where worker alpha of the pool is \\(${provider} checkContract\\).*--deny alpha`,
      ),
    );
    expect((await solving.end('SIGINT')).code).toBe(130);
    expect(await run('solve', 'Where?', '--deny', 'alpha')).toMatchObject({ code: 0 });
  },
);
