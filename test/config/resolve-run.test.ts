import { ConfigError } from '../../src/config/errors';
import { parseConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import type { ConfigInput } from '../../src';

const CONFIG = parseConfig({
  conductor: { provider: 'openai', model: 'open', baseUrl: 'http://127.0.0.1:8000/v1' },
  workers: [
    { id: 'gpt', provider: 'openai', model: 'gpt-6-sol', fallback: ['opus', 'tool'] },
    { id: 'opus', provider: 'anthropic', model: 'claude-opus-5-5' },
    { id: 'small', provider: 'local', model: 'smollm2' },
    { id: 'tool', provider: 'activity', type: 'lookUp', taskQueue: 'tools', timeout: '2m' },
  ],
});

const resolve = (config: ConfigInput): ReturnType<typeof resolveRun> => resolveRun(parseConfig(config));

describe('defaults', () => {
  const { conductor, workers, limits, heartbeatMs } = resolveRun(CONFIG);

  it('of a run', () => {
    expect(limits).toMatchObject({ steps: 5, depth: 0, wallClockMs: 30 * 60_000 });
    expect(heartbeatMs).toBe(30_000);
  });

  it("of a model on another server: Chat Completions, no key, nothing of the vendor's", () => {
    expect(conductor).toMatchObject({
      api: 'chat',
      apiKeyEnv: null,
      temperature: 0.2,
      maxOutputTokens: 1024,
      timeoutMs: 600_000,
      capabilities: { sampling: true, effort: [], jsonSchema: false, maxOutputTokens: null },
      price: null,
    });
  });

  it("of models on their vendors' own endpoints", () => {
    expect(workers[0]).toMatchObject({
      api: 'responses',
      baseUrl: null,
      apiKeyEnv: 'OPENAI_API_KEY',
      temperature: null,
      maxOutputTokens: 4096,
      layout: 'tagged',
      capabilities: { sampling: false, jsonSchema: true },
    });
    expect(workers[1]).toMatchObject({ api: null, apiKeyEnv: 'ANTHROPIC_API_KEY' });
  });

  it('of a local model: free, held to a schema, no key', () => {
    expect(workers[2]).toMatchObject({
      apiKeyEnv: null,
      price: { input: 0, output: 0 },
      capabilities: { sampling: true, jsonSchema: true },
    });
  });

  it('of a worker that is an activity', () => {
    expect(workers[3]).toEqual({
      kind: 'activity',
      id: 'tool',
      type: 'lookUp',
      taskQueue: 'tools',
      timeoutMs: 120_000,
      notes: null,
      fallback: [],
    });
  });
});

describe('capabilities', () => {
  const capabilitiesOf = (worker: object): unknown => {
    const [card] = resolve({
      conductor: { provider: 'local', model: 'm' },
      workers: [{ id: 'w', provider: 'openai', model: 'gpt-6-sol', ...worker }],
    }).workers;
    return card?.kind === 'model' ? card.capabilities : null;
  };

  it('of a known model hold behind any address', () => {
    expect(capabilitiesOf({ baseUrl: 'https://proxy.example.com/v1' })).toEqual(capabilitiesOf({}));
  });

  it('follow the longest known beginning of the name', () => {
    expect(capabilitiesOf({ model: 'gpt-5.1' })).toMatchObject({ effort: ['none', 'low', 'medium', 'high'] });
    expect(capabilitiesOf({ model: 'gpt-5-mini' })).toMatchObject({
      effort: ['minimal', 'low', 'medium', 'high'],
    });
  });

  it('of an unknown model of a vendor leave out what newer models refuse', () => {
    expect(capabilitiesOf({ model: 'gpt-9' })).toMatchObject({ sampling: false, effort: [] });
  });

  it('yield to the card, setting by setting', () => {
    expect(capabilitiesOf({ capabilities: { sampling: true } })).toMatchObject({
      sampling: true,
      jsonSchema: true,
    });
  });

  it('keep the default temperature from a Conductor that would refuse it', () => {
    const conductor = { provider: 'openai', model: 'gpt-6-sol' } as const;
    const workers: ConfigInput['workers'] = [{ id: 'w', provider: 'local', model: 'm' }];
    expect(resolve({ conductor, workers }).conductor.temperature).toBeNull();
    expect(resolve({ conductor: { ...conductor, temperature: 1 }, workers }).conductor.temperature).toBe(1);
  });
});

describe('what one run may use', () => {
  const idsOf = (pool: { allow?: string[]; deny?: string[] }): string[] =>
    resolveRun(CONFIG, { pool }).workers.map(({ id }) => id);

  it('keeps the configured order', () => {
    expect(idsOf({ allow: ['tool', 'gpt'] })).toEqual(['gpt', 'tool']);
    expect(idsOf({ deny: ['gpt'] })).toEqual(['opus', 'small', 'tool']);
    expect(idsOf({ allow: ['gpt', 'opus'], deny: ['gpt'] })).toEqual(['opus']);
  });

  it('holds for fallbacks too', () => {
    expect(resolveRun(CONFIG, { pool: { deny: ['opus'] } }).workers[0]?.fallback).toEqual(['tool']);
  });

  it('is refused when it names nobody we know', () => {
    expect(() => idsOf({ allow: ['gpt', 'nobody'] })).toThrow(ConfigError);
    expect(() => idsOf({ deny: ['nobody'] })).toThrow(
      /no worker "nobody": name some of gpt, opus, small, tool/,
    );
  });

  it('is refused when nobody is left', () => {
    expect(() => idsOf({ allow: [] })).toThrow(/no worker at all/);
  });
});

describe('a plan that the configuration gives', () => {
  const conductor = (...steps: { worker: string; subtask: string; sees: number[] }[]): ConfigInput => ({
    conductor: { provider: 'local', model: 'm', plan: { steps } },
    workers: [{ id: 'a', provider: 'local', model: 'm' }],
    limits: { steps: 2 },
  });
  const step = { worker: 'a', subtask: 'Answer.', sees: [] };

  it('counts steps from 1, and the run counts them from 0', () => {
    const { plan } = resolve(conductor(step, { ...step, sees: [1] })).conductor;
    expect(plan).toEqual({ steps: [step, { ...step, sees: [0] }] });
  });

  it.each([
    [
      'whose worker is unknown',
      [{ ...step, worker: 'b' }],
      /^conductor\.plan cannot .*There is no worker "b"/s,
    ],
    ['that is too long', [step, step, step], /^conductor\.plan cannot .*3 steps, but at most 2/s],
    ['that counts from 0', [step, { ...step, sees: [0] }], /^conductor\.plan cannot .*counted from 1/s],
    [
      'whose step sees itself',
      [{ ...step, sees: [1] }],
      /^conductor\.plan cannot .*Step 1 cannot see step 1/s,
    ],
    ['that is empty', [], /^conductor\.plan cannot .*no steps/s],
  ])('is refused before any run where it is one %s', (_, steps, words) => {
    expect(() => resolve(conductor(...steps))).toThrow(ConfigError);
    expect(() => resolve(conductor(...steps))).toThrow(words);
  });
});

describe('limits of one run', () => {
  it('hold instead of the configured ones, each by itself', () => {
    const configured = {
      steps: 5,
      depth: 0,
      calls: 40,
      tokens: null,
      nanoUsd: 1_000_000_000,
      wallClockMs: 30 * 60_000,
      approvalMs: 60 * 60_000,
    };
    expect(resolveRun(CONFIG).limits).toEqual(configured);
    expect(resolveRun(CONFIG, { limits: { steps: 9, depth: null, wallClock: '90s' } }).limits).toEqual({
      ...configured,
      steps: 9,
      depth: null,
      wallClockMs: 90_000,
    });
    expect(resolveRun(CONFIG, { limits: { costUsd: 0.1, tokens: 5000 } }).limits).toEqual({
      ...configured,
      nanoUsd: 100_000_000,
      tokens: 5000,
    });
    expect(resolveRun(CONFIG, { limits: { costUsd: null } }).limits.nanoUsd).toBeNull();
  });

  it('are refused when they are no durations', () => {
    expect(() => resolveRun(CONFIG, { limits: { wallClock: 'soon' } })).toThrow(
      /wallClock is "soon": expected a dur/,
    );
  });
});
