import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { modelCardsOf } from '../../src/config/api-keys';
import { foreignKeys } from '../../src/cli/trust';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ConfigInput } from '../../src';
import { renderPlan } from '../../src/plan/render';
import { type Ended, runCommand, said, startCommand } from './command';
import { poolAt } from './folder';
import { useStage } from './stage';

const KEY = 'STRANGERS_KEY';

describe('which keys belong to the vendor of their server', () => {
  const env = { OPENAI_API_KEY: 'a', OPENAI_KEY_OF_MINE: 'b', GITHUB_TOKEN: 'c', GEMINI_API_KEY: 'd' };
  const asking = (worker: object): string[] =>
    foreignKeys(
      modelCardsOf(
        resolveRun(
          parseConfig({
            conductor: { provider: 'openai', model: 'boss' },
            workers: [{ id: 'a', provider: 'openai', model: 'a', ...worker }] as ConfigInput['workers'],
          }),
        ),
      ),
      env,
    );

  test.each([
    {},
    { apiKeyEnv: 'OPENAI_KEY_OF_MINE' },
    { apiKeyEnv: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com/v1' },
    { provider: 'google' },
    { baseUrl: 'https://gateway.example/v1' },
    // Not in this environment: nothing could be sent.
    { apiKeyEnv: 'UNSET', baseUrl: 'https://gateway.example/v1' },
  ])('%j needs no trust', (worker) => {
    expect(asking(worker)).toEqual([]);
  });

  test.each([
    [{ apiKeyEnv: 'GITHUB_TOKEN' }, 'GITHUB_TOKEN=https://api.openai.com'],
    [{ apiKeyEnv: 'OPENAI_API_KEY', baseUrl: 'https://x.example/v1' }, 'OPENAI_API_KEY=https://x.example'],
    [
      { apiKeyEnv: 'OPENAI_API_KEY', baseUrl: 'https://api.openai.com.x.example/v1' },
      'OPENAI_API_KEY=https://api.openai.com.x.example',
    ],
    [
      { apiKeyEnv: 'OPENAI_API_KEY', baseUrl: 'http://api.openai.com/v1' },
      'OPENAI_API_KEY=http://api.openai.com',
    ],
    [
      { apiKeyEnv: 'GEMINI_API_KEY', baseUrl: 'http://127.0.0.1:8000/v1' },
      'GEMINI_API_KEY=http://127.0.0.1:8000',
    ],
    [{ provider: 'anthropic', apiKeyEnv: 'OPENAI_API_KEY' }, 'OPENAI_API_KEY=https://api.anthropic.com'],
  ])('%j does', (worker, pair) => {
    expect(asking(worker)).toEqual([pair]);
  });
});

describe('a folder whose configuration sends a key elsewhere', () => {
  const plan = renderPlan({ steps: [{ worker: 'alpha', subtask: 'x', sees: [] }] }, ['alpha', 'beta']);
  const paris = { answer: 'Paris' };
  const stage = useStage({ boss: { answer: plan }, alpha: paris, beta: paris }, strangersPool);
  const state = (): string => join(stage.folder.path, 'state');

  function setting(env: Readonly<Record<string, string>> = {}): Parameters<typeof runCommand>[1] {
    return { cwd: stage.folder.path, env: { [KEY]: 'sesame', XDG_STATE_HOME: state(), ...env } };
  }

  function run(...args: readonly string[]): Promise<Ended> {
    return runCommand(args, setting());
  }

  test.each([[['solve', 'Where?']], [['up']], [['pool', 'check']]])(
    '%j without a terminal refuses, says what to do, and starts nothing',
    async (args) => {
      const { code, stderr } = await run(...args);
      expect(code).toBe(2);
      expect(stderr).toContain(`${KEY} to ${stage.providers.url}`);
      expect(stderr).toContain(`--trust`);
      expect(stderr).toContain(`CONDUCTOR_TRUST=${KEY}=${stage.providers.url}`);
      expect(stage.providers.log).toEqual([]);
      expect(await readdir(stage.folder.path)).toEqual(['conductor.yaml']);
    },
  );

  test('a person is asked once; the folder is remembered outside of it, for its owner alone', async () => {
    const refused = startCommand(['pool', 'check'], { ...setting(), terminal: true });
    await refused.hear(/STRANGERS_KEY[^]*\[y\/N\]/);
    refused.type('\n');
    expect(await refused.ended).toMatchObject({ code: 2 });
    expect(stage.providers.log).toEqual([]);

    const asked = startCommand(['pool', 'check'], { ...setting(), terminal: true });
    await asked.hear(/\[y\/N\]/);
    asked.type('y\n');
    expect(await asked.ended).toMatchObject({ code: 0 });
    const file = join(state(), 'temporal-conductor', 'trust.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(state(), 'temporal-conductor'))).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).not.toContain('sesame');
    expect(await run('pool', 'check')).toMatchObject({ code: 0 });

    // Trust holds for this key and server: another one is asked for anew, and so is another stage.folder.
    await stage.folder.write(
      'conductor.yaml',
      strangersPool(stage.providers.url.replace('127.0.0.1', 'localhost')),
    );
    expect(await run('pool', 'check')).toMatchObject({ code: 2 });
    await mkdir(join(stage.folder.path, 'other'));
    await stage.folder.write(join('other', 'conductor.yaml'), strangersPool(stage.providers.url));
    expect(await run('pool', 'check', '--config', 'other/conductor.yaml')).toMatchObject({ code: 2 });
  });

  test('for CI and containers: a variable, or --trust where nothing can be remembered', async () => {
    const trust = { CONDUCTOR_TRUST: `OTHER=https://x.example,${KEY}=${stage.providers.url}` };
    expect(await runCommand(['pool', 'check'], setting(trust))).toMatchObject({ code: 0 });
    expect(await run('pool', 'check')).toMatchObject({ code: 2 });

    const nowhere = { XDG_STATE_HOME: join(stage.folder.path, 'conductor.yaml') };
    const trusted = await runCommand(['pool', 'check', '--trust'], setting(nowhere));
    expect(trusted).toMatchObject({ code: 0, stderr: said('not be remembered') });
  });

  test('the worker of `up` is trusted with it, and `watch` beside no `up` asks as well', async () => {
    const nowhere = { XDG_STATE_HOME: join(stage.folder.path, 'conductor.yaml') };
    const up = startCommand(['up', '--trust'], setting(nowhere));
    await up.hear(/^Ready/m);
    const { stdout } = await run('solve', 'Where?', '--detach');
    const watched = await runCommand(['watch', stdout.trim(), '--trust'], setting(nowhere));
    expect(watched).toMatchObject({ code: 0, stdout: 'Paris\n' });
    expect(await run('watch', stdout.trim())).toMatchObject({ code: 2 });
    up.signal('SIGINT');
    await up.ended;
  });
});

function strangersPool(url: string): ConfigInput {
  const pool = poolAt(url);
  return { ...pool, conductor: { ...pool.conductor, apiKeyEnv: KEY } as ConfigInput['conductor'] };
}
