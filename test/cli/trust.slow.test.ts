import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { modelCardsOf } from '../../src/config/api-keys';
import { foreignKeys } from '../../src/cli/kit/trust';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ConfigInput } from '../../src';
import { type CommandSetting, type Ended, endedWith } from './command';
import { poolAt } from './folder';
import { PLAN, useStage } from './stage';

const KEY = 'STRANGERS_KEY';

describe('which keys belong to the vendor of their server', () => {
  const env = { OPENAI_API_KEY: 'a', OPENAI_KEY_OF_MINE: 'b', GITHUB_TOKEN: 'c', GEMINI_API_KEY: 'd' };
  const asking = (worker: object): string[] => {
    const workers = [{ id: 'a', provider: 'openai', model: 'a', ...worker }] as ConfigInput['workers'];
    const config = parseConfig({ conductor: { provider: 'openai', model: 'boss' }, workers });
    return foreignKeys(modelCardsOf(resolveRun(config)), env);
  };

  const own = 'https://api.openai.com';
  const foreign = 'https://x.example';

  test.each<[object, ...string[]]>([
    [{}],
    [{ apiKeyEnv: 'OPENAI_KEY_OF_MINE' }],
    [{ apiKeyEnv: 'OPENAI_API_KEY', baseUrl: `${own}/v1` }],
    [{ provider: 'google' }],
    [{ baseUrl: `${foreign}/v1` }],
    // The variable is not set, so nothing could be sent.
    [{ apiKeyEnv: 'UNSET', baseUrl: `${foreign}/v1` }],
    [{ apiKeyEnv: 'GITHUB_TOKEN' }, `GITHUB_TOKEN=${own}`],
    [{ apiKeyEnv: 'OPENAI_API_KEY', baseUrl: `${foreign}/v1` }, `OPENAI_API_KEY=${foreign}`],
    [{ apiKeyEnv: 'OPENAI_API_KEY', baseUrl: `${own}.x.example/v1` }, `OPENAI_API_KEY=${own}.x.example`],
    [
      { apiKeyEnv: 'OPENAI_API_KEY', baseUrl: 'http://api.openai.com' },
      'OPENAI_API_KEY=http://api.openai.com',
    ],
    [{ apiKeyEnv: 'GEMINI_API_KEY', baseUrl: 'http://127.0.0.1:8' }, 'GEMINI_API_KEY=http://127.0.0.1:8'],
    // A proxy passes on what is encrypted, and reads what is not.
    [{ proxy: 'http://x.example:3128' }],
    [
      { apiKeyEnv: 'OPENAI_API_KEY', baseUrl: 'http://y.example', proxy: 'http://x.example:3128' },
      'OPENAI_API_KEY=http://y.example',
      'OPENAI_API_KEY=http://x.example:3128',
    ],
    [{ provider: 'anthropic', apiKeyEnv: 'OPENAI_API_KEY' }, 'OPENAI_API_KEY=https://api.anthropic.com'],
  ])('%j needs trust in %s', (worker, ...pairs) => {
    expect(asking(worker)).toEqual(pairs);
  });
});

describe('a folder whose configuration sends a key elsewhere', () => {
  const paris = { answer: 'Paris' };
  const stage = useStage({ boss: { answer: PLAN }, alpha: paris, beta: paris }, { configOf: strangersPool });
  const state = (): string => join(stage.folder.path, 'state');

  function setting(env: Readonly<Record<string, string>> = {}): Pick<CommandSetting, 'env'> {
    return { env: { [KEY]: 'sesame', XDG_STATE_HOME: state(), ...env } };
  }

  const run = (...args: readonly string[]): Promise<Ended> => stage.start(args, setting()).ended;

  test.each([[['solve', 'Where?']], [['up']], [['pool', 'check']]])(
    '%j without a terminal is refused with the remedy, and starts nothing',
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

  test('a person is asked once, and the trust is kept outside of the folder, only for its owner', async () => {
    const refused = stage.start(['pool', 'check'], { ...setting(), terminal: true });
    await refused.hear(/STRANGERS_KEY[^]*\[y\/N\]/);
    refused.type('\n');
    expect(await refused.ended).toMatchObject({ code: 2 });
    expect(stage.providers.log).toEqual([]);

    const asked = stage.start(['pool', 'check'], { ...setting(), terminal: true });
    await asked.hear(/\[y\/N\]/);
    asked.type('y\n');
    expect(await asked.ended).toMatchObject({ code: 0 });
    const file = join(state(), 'temporal-conductor', 'trust.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(state(), 'temporal-conductor'))).mode & 0o777).toBe(0o700);
    expect(await readFile(file, 'utf8')).not.toContain('sesame');
    expect(await run('pool', 'check')).toMatchObject({ code: 0 });

    // Trust holds for this key, server and folder; any other server or folder needs trust of its own.
    await stage.folder.write(
      'conductor.yaml',
      strangersPool(stage.providers.url.replace('127.0.0.1', 'localhost')),
    );
    expect(await run('pool', 'check')).toMatchObject({ code: 2 });
    await mkdir(join(stage.folder.path, 'other'));
    await stage.folder.write(join('other', 'conductor.yaml'), strangersPool(stage.providers.url));
    expect(await run('pool', 'check', '--config', 'other/conductor.yaml')).toMatchObject({ code: 2 });
  });

  test('CI and containers use a variable, or --trust if nothing can be remembered', async () => {
    const trust = { CONDUCTOR_TRUST: `OTHER=https://x.example,${KEY}=${stage.providers.url}` };
    expect(await stage.start(['pool', 'check'], setting(trust)).ended).toMatchObject({ code: 0 });
    expect(await run('pool', 'check')).toMatchObject({ code: 2 });

    const nowhere = { XDG_STATE_HOME: join(stage.folder.path, 'conductor.yaml') };
    const trusted = await stage.start(['pool', 'check', '--trust'], setting(nowhere)).ended;
    expect(trusted).toMatchObject(endedWith(0, 'Could not save your trust in this folder'));
  });

  test('the worker of `up --trust` is trusted as well, and `watch` needs trust of its own', async () => {
    const nowhere = { XDG_STATE_HOME: join(stage.folder.path, 'conductor.yaml') };
    const up = await stage.startReady(['up', '--trust'], setting(nowhere));
    const { stdout } = await run('solve', 'Where?', '--detach');
    const watched = await stage.start(['watch', stdout.trim(), '--trust'], setting(nowhere)).ended;
    expect(watched).toMatchObject({ code: 0, stdout: 'Paris\n' });
    expect(await run('watch', stdout.trim())).toMatchObject({ code: 2 });
    await up.end('SIGINT');
  });
});

function strangersPool(url: string): ConfigInput {
  const pool = poolAt(url);
  return { ...pool, conductor: { ...pool.conductor, apiKeyEnv: KEY } as ConfigInput['conductor'] };
}
