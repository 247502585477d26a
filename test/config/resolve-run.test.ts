import { ConfigError } from '../../src/config/errors';
import { parseConfig } from '../../src/config/load';
import prices from '../../src/config/prices.json';
import { holdToRights, noticesOf, resolveRun } from '../../src/config/resolve-run';
import type { ConfigInput } from '../../src';
import type { ModelCard } from '../../src/protocol/cards';

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

/** Returns the card of a worker with one of OpenAI's models, apart from the changes. */
function cardOf(changes: object, day = new Date('2026-11-21')): ModelCard {
  const worker = { id: 'w', provider: 'openai', model: 'gpt-6-sol', ...changes } as const;
  const config = parseConfig({ conductor: { provider: 'local', model: 'm' }, workers: [worker] });
  const [card] = resolveRun(config, {}, day).workers;
  if (card?.kind !== 'model') throw new Error('no model');
  return card;
}

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

  it('of access: any list, but binary for a grammar, which cannot limit a list to earlier steps', () => {
    const accessOf = (settings: Partial<ConfigInput['conductor']>): unknown => {
      const conductor = { provider: 'local', model: 'x.gguf', ...settings } as ConfigInput['conductor'];
      return resolveRun(parseConfig({ conductor, workers: [{ id: 'w', provider: 'local', model: 'm' }] }))
        .conductor.access;
    };
    expect(conductor.access).toBe('any');
    expect(accessOf({ capabilities: { jsonSchema: true } })).toBe('binary');
    expect(accessOf({ capabilities: { jsonSchema: false } })).toBe('any');
    expect(accessOf({ capabilities: { jsonSchema: true }, access: 'any' })).toBe('any');
    expect(accessOf({ capabilities: { jsonSchema: false }, access: 'binary' })).toBe('binary');
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

  it('of a local model: free, able to follow a schema, no key', () => {
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
  const capabilitiesOf = (worker: object) => cardOf(worker).capabilities;

  it('of a known model apply at any address', () => {
    expect(capabilitiesOf({ baseUrl: 'https://proxy.example.com/v1' })).toEqual(capabilitiesOf({}));
  });

  it('follow the longest known prefix of the name', () => {
    expect(capabilitiesOf({ model: 'gpt-5.1' }).effort).toEqual(['none', 'low', 'medium', 'high']);
    expect(capabilitiesOf({ model: 'gpt-5-mini' }).effort).toEqual(['minimal', 'low', 'medium', 'high']);
  });

  it('of an unknown model of a vendor omit what newer models refuse', () => {
    expect(capabilitiesOf({ model: 'gpt-9' })).toMatchObject({ sampling: false, effort: [] });
  });

  it('can be overridden by the card, setting by setting', () => {
    const given = { capabilities: { sampling: true } };
    expect(capabilitiesOf(given)).toMatchObject({ sampling: true, jsonSchema: true });
  });

  it('spare a Conductor the default temperature that it would refuse', () => {
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

  it('also applies to fallbacks', () => {
    expect(resolveRun(CONFIG, { pool: { deny: ['opus'] } }).workers[0]?.fallback).toEqual(['tool']);
  });

  it('is refused if it names an unknown worker or leaves none', () => {
    expect(() => idsOf({ allow: ['gpt', 'nobody'] })).toThrow(ConfigError);
    expect(() => idsOf({ deny: ['nobody'] })).toThrow(
      /no worker "nobody": choose from gpt, opus, small, tool/,
    );
    expect(() => idsOf({ allow: [] })).toThrow(/leaves no worker for the run/);
  });
});

describe('a plan in the configuration', () => {
  const conductor = (...steps: { worker: string; subtask: string; sees: number[] }[]): ConfigInput => ({
    conductor: { provider: 'local', model: 'm', plan: { steps } },
    workers: [{ id: 'a', provider: 'local', model: 'm' }],
    limits: { steps: 2 },
  });
  const step = { worker: 'a', subtask: 'Answer.', sees: [] };

  it('counts steps from 1, while the run counts them from 0', () => {
    const { plan } = resolve(conductor(step, { ...step, sees: [1] })).conductor;
    expect(plan).toEqual({ steps: [step, { ...step, sees: [0] }] });
  });

  it.each([
    ['whose worker is unknown', [{ ...step, worker: 'b' }], 'There is no worker "b"'],
    ['that is too long', [step, step, step], '3 steps, but at most 2'],
    ['that counts from 0', [step, { ...step, sees: [0] }], 'counted from 1'],
    ['whose step sees itself', [{ ...step, sees: [1] }], 'Step 1 cannot see step 1'],
    ['that is empty', [], 'no steps'],
  ])('is refused before any run if it is one %s', (_, steps, words) => {
    expect(() => resolve(conductor(...steps))).toThrow(ConfigError);
    expect(() => resolve(conductor(...steps))).toThrow(/^conductor\.plan cannot /);
    expect(() => resolve(conductor(...steps))).toThrow(words);
  });
});

describe('further Conductors', () => {
  const model = { provider: 'local', model: 'm' } as const;
  const plan = { steps: [{ worker: 'b', subtask: 'Answer.', sees: [] }] };
  const named = (conductors: ConfigInput['conductors']) =>
    parseConfig({ conductor: model, conductors, workers: [{ ...model, id: 'a' }] });

  it('write the plans of only those runs that name them', () => {
    const config = named({ big: { ...model, model: 'large' }, fixed: { ...model, plan } });
    expect(resolveRun(config).conductor.model).toBe('m');
    expect(resolveRun(config, { conductor: { name: 'big' } }).conductor.model).toBe('large');
    expect(() => resolveRun(config, { conductor: { name: 'fixed' } })).toThrow(
      /^conductors\.fixed\.plan cannot be carried out: .*There is no worker "b"/,
    );
    for (const name of ['toString', 'small']) {
      expect(() => resolveRun(config, { conductor: { name } })).toThrow(
        `there is no Conductor "${name}": name one of big, fixed`,
      );
    }
    expect(() => resolveRun(named({}), { conductor: { name: 'big' } })).toThrow('add it to "conductors:"');
  });

  it.each(['1', 'Big', 'a/b', 'a.b', 'a:1', ''])('cannot have the name %j', (name) => {
    expect(() => named({ [name]: model })).toThrow('expected up to 63 lowercase letters');
  });

  it('without a price are reported if a limit on cost needs it', () => {
    const remote = { provider: 'openai', model: 'big', baseUrl: 'http://127.0.0.1:9/v1' } as const;
    expect(noticesOf(named({ big: remote }))).toEqual([
      expect.stringContaining('cannot be enforced: the Conductor (openai big) has no known price') as unknown,
    ]);
  });
});

describe('baselines', () => {
  const model = { provider: 'local', model: 'm' } as const;
  const parse = (...baselines: ConfigInput['workers'][number][]) =>
    parseConfig({ conductor: model, workers: [{ ...model, id: 'a' }], baselines });

  it('are not workers of a run', () => {
    expect(resolveRun(parse({ ...model, id: 'big' })).workers.map(({ id }) => id)).toEqual(['a']);
  });

  it.each([
    ['a worker', [{ ...model, id: 'a' }], 'baselines[0].id is "a": a worker of the pool has this id already'],
    [
      'one another',
      [
        { ...model, id: 'b' },
        { ...model, id: 'b' },
      ],
      'baselines[0] has this id already',
    ],
    ['the Conductor', [{ ...model, id: 'conductor' }], 'reserved for the Conductor'],
  ])('cannot share an id with %s', (_, baselines, words) => {
    expect(() => parse(...baselines)).toThrow(words);
  });

  it('can fall back only to one another', () => {
    expect(() => parse({ ...model, id: 'b', fallback: ['a'] })).toThrow(
      'baselines[0].fallback[0] is "a": expected one of b',
    );
  });
});

describe('limits of one run', () => {
  it('override the configured ones, each by itself', () => {
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
    const limited = (limits: object) => resolveRun(CONFIG, { limits }).limits;
    const shorter = { ...configured, steps: 9, depth: null, wallClockMs: 90_000 };
    expect(limited({ steps: 9, depth: null, wallClock: '90s' })).toEqual(shorter);
    const cheaper = { ...configured, nanoUsd: 100_000_000, tokens: 5000 };
    expect(limited({ costUsd: 0.1, tokens: 5000 })).toEqual(cheaper);
    expect(limited({ costUsd: null })).toEqual({ ...configured, nanoUsd: null });
  });

  it('are refused if they are not durations', () => {
    const soon = (): unknown => resolveRun(CONFIG, { limits: { wallClock: 'soon' } });
    expect(soon).toThrow(/wallClock is "soon": expected a dur/);
  });
});

describe('a run that a key started', () => {
  const run = resolveRun(CONFIG, { limits: { depth: 2, calls: 50, costUsd: null } });
  const { limits } = resolveRun(CONFIG);
  const given = { plan: { steps: [{ worker: 'gpt', subtask: 'Answer.', sees: [] }] }, outputs: [null] };

  it('has no limit above those of its key', () => {
    expect(holdToRights(run, { rights: { models: null, limits } })).toEqual({ ...run, limits });
  });

  it('has the workers that its key may ask alone, for fallbacks too, if that may not use its Conductor', () => {
    const held = holdToRights(run, { given, rights: { models: ['worker/gpt', 'worker/t*'], limits } });
    expect(held.workers.map(({ id, fallback }) => [id, fallback])).toEqual([
      ['gpt', ['tool']],
      ['tool', []],
    ]);
    const checkpoint = { checkpoint: 'night/000001' };
    const models = ['conductor/night/*', 'worker/small'];
    expect(holdToRights(run, { conductor: checkpoint, rights: { models, limits } }).workers).toHaveLength(4);
    expect(holdToRights(run, { given, rights: { models, limits } }).workers).toHaveLength(1);
  });

  it('is refused without a plan that its key may use', () => {
    const rights = { models: ['worker/small'], limits };
    expect(() => holdToRights(run, { rights })).toThrow(ConfigError);
    expect(() => holdToRights(run, { rights: { models: ['worker/x'], limits }, given })).toThrow(
      'none of its workers',
    );
  });

  it('is whole if no key started it', () => {
    expect(holdToRights(run, {})).toBe(run);
  });
});

describe('the price of a card', () => {
  const priced = (worker: object, day?: Date): unknown => {
    const { price, priceVersion } = cardOf(worker, day);
    return [price, priceVersion];
  };
  const unknown = [null, null];
  const sol = [prices.endpoints['https://api.openai.com']['gpt-6-sol'][0]?.price, prices.version];

  it('is its own price, wherever it is served', () => {
    const price = { input: 1, output: 2 };
    expect(priced({ price })).toEqual([price, 'card']);
    expect(priced({ price, baseUrl: 'http://127.0.0.1:1/v1' })).toEqual([price, 'card']);
  });

  it('is the bundled price at the endpoint that charges it, by default or by name', () => {
    expect(priced({})).toEqual(sol);
    expect(priced({ baseUrl: 'https://api.openai.com/v1' })).toEqual(sol);
  });

  it('is unknown at any other address, and for any other model', () => {
    expect(priced({ baseUrl: 'https://api.example.com/v1' })).toEqual(unknown);
    expect(priced({ baseUrl: 'https://api.openai.com.example.com/v1' })).toEqual(unknown);
    expect(priced({ model: 'gpt-6-sol-2' })).toEqual(unknown);
    expect(priced({ provider: 'anthropic' })).toEqual(unknown);
  });

  it('follows an announced change on its day', () => {
    const argon = { provider: 'google', model: 'gemini-4-argon' };
    expect(priced(argon, new Date('2026-11-30'))).toMatchObject([{ input: 2 }, prices.version]);
    expect(priced(argon, new Date('2026-12-01'))).toMatchObject([{ input: 4 }, prices.version]);
  });
});

describe('a limit on cost', () => {
  const MODEL = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } as const;
  const price = { input: 1, output: 2 };
  const noticesFor = (worker: ConfigInput['workers'][number], limits = {}): string[] =>
    noticesOf(parseConfig({ conductor: { ...MODEL, price }, workers: [worker], limits }));

  it('is reported as unenforceable if a price is unknown', () => {
    expect(noticesFor({ ...MODEL, id: 'a' })).toEqual([
      'limits.costUsd ($1) cannot be enforced: worker a (openai m) has no known price. ' +
        'Set a "price:" for each; the limits on calls and tokens still apply.',
    ]);
  });

  it('gives no warning if every price is known or the limit is off', () => {
    expect(noticesFor({ ...MODEL, id: 'a', price })).toEqual([]);
    expect(noticesFor({ ...MODEL, id: 'a' }, { costUsd: null })).toEqual([]);
  });

  it('can be enforced for a worker of the user that states its cost per call', () => {
    const agent = { id: 'agent', provider: 'activity', type: 'research', taskQueue: 'agents' } as const;
    expect(noticesFor(agent)[0]).toContain('worker agent (activity research)');
    expect(noticesFor({ ...agent, price: { perCall: 0.01 } })).toEqual([]);
  });
});

describe('a model whose answers are written in the background', () => {
  const ELSEWHERE = { baseUrl: 'http://127.0.0.1:8000/v1' };

  it.each([
    ["is one on OpenAI's own endpoint", {}],
    ['is one on another server that speaks the Responses API', { ...ELSEWHERE, api: 'responses' }],
  ])('%s', (_, model) => {
    expect(cardOf({ ...model, background: true })).toMatchObject({ api: 'responses', background: true });
    expect(cardOf({ ...model, background: false })).not.toHaveProperty('background');
  });

  const chat = 'Chat Completions has no background mode';
  const other = "only OpenAI's Responses API has a background mode; remove it or set false";
  it.each([
    ['another server without an API named', ELSEWHERE, `${chat}; add api: responses or remove it`],
    ['Chat Completions', { api: 'chat' }, `${chat}; set api: responses or remove it`],
    ['Anthropic', { provider: 'anthropic', model: 'claude-opus-5-5' }, other],
    ['Google', { provider: 'google', model: 'gemini-4-argon' }, other],
    ['a local model', { provider: 'local', model: 'smollm2' }, other],
  ])('is refused for %s', (_, model, sentence) => {
    const refused = (): unknown => cardOf({ ...model, background: true });
    expect(refused).toThrow(`workers[0].background is true: ${sentence}`);
  });

  it('may be the Conductor, under the same rule', () => {
    const openai = { provider: 'openai', model: 'gpt-6-sol', background: true } as const;
    const workers: ConfigInput['workers'] = [{ id: 'w', provider: 'local', model: 'm' }];
    expect(resolve({ conductor: openai, workers }).conductor.background).toBe(true);
    const elsewhere = (): unknown => resolve({ conductor: { ...openai, ...ELSEWHERE }, workers });
    expect(elsewhere).toThrow('conductor.background is true');
  });
});
