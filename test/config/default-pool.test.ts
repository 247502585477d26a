import { defaultConfig, findLocalServer } from '../../src/config/default-pool';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { serve } from '../support/serve';

const nobody = (): Promise<null> => Promise.resolve(null);

describe('the default configuration', () => {
  it('uses each vendor whose key is set, the first as Conductor, and asks no local server', async () => {
    const probe = jest.fn(nobody);
    const env = { ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g', OPENAI_API_KEY: '' };
    const { config } = await defaultConfig(env, probe);
    const { conductor, workers } = resolveRun(parseConfig(config));
    expect(conductor.provider).toBe('anthropic');
    expect(new Set(workers.map((worker) => worker.kind === 'model' && worker.provider))).toEqual(
      new Set(['anthropic', 'google']),
    );
    expect(probe).not.toHaveBeenCalled();
  });

  it('knows the price and the effort of every model it picks', async () => {
    const env = { OPENAI_API_KEY: 'o', ANTHROPIC_API_KEY: 'a', GEMINI_API_KEY: 'g' };
    const { config } = await defaultConfig(env);
    const { conductor, workers } = resolveRun(parseConfig(config));
    for (const card of [conductor, ...workers.filter((worker) => worker.kind === 'model')]) {
      expect([card.model, card.price]).not.toEqual([card.model, null]);
      expect(card.capabilities.effort).toContain(card.effort);
    }
  });

  it('otherwise uses the first local server that has a text model', async () => {
    const answers: Record<string, string[]> = {
      'http://127.0.0.1:8080/v1': ['nomic-embed-text'],
      'http://127.0.0.1:8000/v1': ['Qwen/Qwen3.5:9b', 'bge-embed', 'gemma'],
    };
    const { config, notice } = await defaultConfig({}, (url) => Promise.resolve(answers[url] ?? null));
    const { conductor, workers } = resolveRun(parseConfig(config));
    expect(conductor).toMatchObject({
      model: 'Qwen/Qwen3.5:9b',
      baseUrl: 'http://127.0.0.1:8000/v1',
      apiKeyEnv: null,
    });
    expect(workers.map(({ id }) => id)).toEqual(['Qwen-Qwen3.5-9b', 'gemma']);
    expect(notice).toContain('http://127.0.0.1:8000/v1');
  });

  it('otherwise runs a small model in this process, and says that its answers are weak', async () => {
    const { config, notice } = await defaultConfig({}, nobody);
    const { conductor, workers, limits } = resolveRun(parseConfig(config));
    expect(conductor.provider).toBe('local');
    expect(workers).toHaveLength(1);
    expect(limits.steps).toBe(2);
    expect(notice).toMatch(/weak[^]*cannot plan/);
    expect(conductor.plan?.steps.map(({ worker, sees }) => [worker, sees])).toEqual([
      ['smollm2', []],
      ['smollm2', [0]],
    ]);
  });
});

it('asks a local server like OpenAI, and skips one that is silent or speaks another protocol', async () => {
  const list = JSON.stringify({ object: 'list', data: [{ id: 'tiny', object: 'model' }] });
  const answers: Record<string, string> = { '/v1/models': list };
  const server = await serve(({ url = '' }, response) => response.end(answers[url] ?? '<html>'));
  const baseUrl = `${server.url}/v1`;
  const asked = [`${baseUrl}/of-another-kind`, 'http://127.0.0.1:1/v1'];
  expect(await findLocalServer(undefined, asked)).toBeNull();
  expect(await findLocalServer(undefined, [...asked, baseUrl])).toEqual({ baseUrl, models: ['tiny'] });
  await server.close();
});
