import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPool } from '../../src/config/default-pool';
import { parseConfig, readGivenConfig } from '../../src/config/load';
import { useFolder } from './stage';

const KEY = 'sk-test-0123456789abcdefghij';

describe('init', () => {
  const stage = useFolder({ ANTHROPIC_API_KEY: KEY });
  const init = (...args: string[]) => stage.run('init', ...args);

  test('writes what commands and editors read, and no key', async () => {
    const { code, stderr } = await init();
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const file = join(stage.folder.path, 'conductor.yaml');
    const { conductor, limits } = readGivenConfig(file);
    expect({ conductor, limits }).toMatchObject({
      conductor: { provider: 'anthropic' },
      limits: { costUsd: 1 },
    });
    const text = await readFile(file, 'utf8');
    expect(text).not.toContain(KEY);
    const [, schema = ''] = /^# yaml-language-server: \$schema=(.+)$/m.exec(text) ?? [];
    expect(JSON.parse(await readFile(join(stage.folder.path, schema), 'utf8'))).toHaveProperty(
      'properties.workers',
    );
  });

  test('never overwrites a file', async () => {
    await stage.folder.write('conductor.yaml', 'mine: true');
    expect(await init()).toMatchObject({ code: 2, stdout: '' });
    expect(await readFile(join(stage.folder.path, 'conductor.yaml'), 'utf8')).toBe('mine: true');
    expect(await init('--config', 'other.yaml')).toMatchObject({ code: 0 });
  });
});

describe('the pool that init writes', () => {
  const server =
    (...models: string[]) =>
    (url: string) =>
      Promise.resolve(url.includes(':8080') ? models : null);

  test('has the models of every vendor and of a server, each id once', async () => {
    const pool = await findPool({ OPENAI_API_KEY: KEY }, server('gpt-6-luna', 'qwen'));
    expect(pool?.conductor).toMatchObject({ provider: 'openai', model: 'gpt-6.1-sol' });
    expect(pool?.workers.map(({ id }) => id)).toEqual(['gpt-6.1-sol', 'gpt-6-luna', 'qwen']);
    expect(() => pool && parseConfig(pool)).not.toThrow();
  });

  test('has only the models of a server if there is no key, and does not exist if there is neither', async () => {
    expect((await findPool({}, server('qwen')))?.workers.map(({ id }) => id)).toEqual(['qwen']);
    expect(await findPool({}, server())).toBeNull();
  });
});
