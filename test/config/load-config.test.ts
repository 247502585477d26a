import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/errors';
import { loadConfig, parseConfig, readGivenConfig } from '../../src/config/load';
import { resolveRun } from '../../src/config/resolve-run';
import { loadTrainableConfig } from '../../src/training/config';
import { freshFolder } from '../local/fresh-folder';

const nobody = (): Promise<null> => Promise.resolve(null);

const SMALLEST = `
conductor: { provider: local, model: smollm2 }
workers:
  - { id: small, provider: local, model: smollm2 }
`;

/** A file with every documented setting that this version accepts. */
const FULL = `
conductor:
  provider: openai
  model: my-conductor
  baseUrl: http://127.0.0.1:8000/v1
  apiKeyEnv: OPENAI_API_KEY
  temperature: 0.2
  maxOutputTokens: 1024
  describe: names
workers:
  - id: gpt
    provider: openai
    api: responses
    model: gpt-6-sol
    apiKeyEnv: OPENAI_API_KEY
    maxOutputTokens: 4096
    effort: low
    timeout: 5m
    layout: chat
    instructions: Answer in French.
    notes: strong at code
    price: { input: 2, output: 10, cachedInput: 0.2 }
    capabilities: { jsonSchema: true }
    fallback: [sonnet]
  - { id: sonnet, provider: anthropic, model: claude-sonnet-5-5 }
  - { id: gemini, provider: google, model: gemini-4-argon }
  - { id: agent, provider: workflow, type: research, taskQueue: agents }
limits: { steps: 5, depth: 0, costUsd: 1.00, calls: 40, wallClock: 30m }
recursion: both
temporal: { taskQueue: conductor, namespace: default, heartbeat: 15s, queuePerProvider: false }
store: sqlite:.conductor/other.db
training:
  profile: cpu-demo
  data: { train: questions.jsonl, heldOut: heldout.jsonl }
  groupSize: 64
`;

let folder: string;
beforeEach(async () => {
  folder = await freshFolder();
});

function write(text: string, name = 'conductor.yaml'): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function problemOf(text: string): string {
  const path = write(text);
  try {
    readGivenConfig(path);
  } catch (error) {
    if (error instanceof ConfigError) return error.message.replaceAll(path, 'conductor.yaml');
    throw error;
  }
  throw new Error('the configuration was accepted');
}

describe('where a configuration comes from', () => {
  it('prefers the named file, then CONDUCTOR_CONFIG, then the folder, then the default', async () => {
    const withModel = (model: string): string => SMALLEST.replaceAll('smollm2', model);
    write(withModel('from-folder'));
    write(withModel('from-variable'), 'variable.yaml');
    write(withModel('from-option'), 'option.yaml');
    const env = { CONDUCTOR_CONFIG: 'variable.yaml' };
    const found = async (options: { path?: string; env: NodeJS.ProcessEnv }) => {
      const { config, path } = await loadConfig({ cwd: folder, probe: nobody, ...options });
      return [resolveRun(config).conductor.model, path];
    };
    expect(await found({ path: 'option.yaml', env })).toEqual(['from-option', join(folder, 'option.yaml')]);
    expect(await found({ env })).toEqual(['from-variable', join(folder, 'variable.yaml')]);
    expect(await found({ env: {} })).toEqual(['from-folder', join(folder, 'conductor.yaml')]);
    rmSync(join(folder, 'conductor.yaml'));
    expect(await found({ env: {} })).toEqual(['smollm2', null]);
  });

  it.each([
    ['the option', { path: 'gone.yaml', env: {} }],
    ['the variable', { env: { CONDUCTOR_CONFIG: 'gone.yaml' } }],
  ])('does not fall back to the default when %s names a missing file', async (_, options) => {
    const loading = loadConfig({ cwd: folder, probe: nobody, ...options });
    await expect(loading).rejects.toThrow(/gone\.yaml does not exist: create it/);
    await expect(loading).rejects.toBeInstanceOf(ConfigError);
  });
});

describe('what a configuration may hold', () => {
  it('reads every documented setting', async () => {
    write(FULL);
    const { config } = await loadTrainableConfig({ env: {}, cwd: folder });
    expect(config.workers.map(({ id }) => id)).toEqual(['gpt', 'sonnet', 'gemini', 'agent']);
    expect(config.limits.wallClock).toBe('30m');
    expect(config.training).toMatchObject({ profile: 'cpu-demo', groupSize: 64 });
  });

  it('leaves the section of an add-on to the add-on', async () => {
    write(`${SMALLEST}\ntraining: { profile: no-such-profile }\n`);
    const { config } = await loadConfig({ env: {}, cwd: folder });
    expect(config.training).toEqual({ profile: 'no-such-profile' });
    await expect(loadTrainableConfig({ env: {}, cwd: folder })).rejects.toThrow('no such profile');
  });

  it('parses to the same value again, so a loaded configuration can be passed on', () => {
    const config = readGivenConfig(write(FULL));
    expect(parseConfig(config)).toEqual(config);
  });

  it('reports which cost limits have no effect without prices', async () => {
    write(FULL);
    const { unpriced } = await loadTrainableConfig({ env: {}, cwd: folder });
    const settings = unpriced.map((notice) => notice.split(' ')[0]);
    expect(settings).toEqual(['limits.costUsd', 'training.budget.costUsd']);
    write(SMALLEST);
    expect(await loadConfig({ env: {}, cwd: folder })).toMatchObject({ notices: [], unpriced: [] });
  });
});

describe('a misspelt setting is refused with what was likely meant', () => {
  it.each([
    [
      'limits: { wall_clock: 30m }',
      'limits.wall_clock (did you mean wallClock?) is not a setting: remove or rename',
    ],
    ['limit: { steps: 1 }', 'limit (did you mean limits?) is not a setting: remove or rename'],
    [
      'recursion: reveiw',
      'recursion is "reveiw": expected one of review, worker, both, never; did you mean review?',
    ],
    [
      'limits: { stepz: 1, quux: 2 }',
      'limits.stepz (did you mean steps?), limits.quux are not settings: remove or rename',
    ],
    [
      'limits: { wallClock: 30 }',
      'limits.wallClock is 30: expected a duration from 1s to 24d, e.g. 90s, 30m or 2h',
    ],
  ])('%s', (line, sentence) => {
    const [, problem] = /^conductor\.yaml:5:\d+: (.*)$/s.exec(problemOf(`${SMALLEST}${line}\n`)) ?? [];
    expect(problem).toBe(sentence);
  });
});

it('accepts price: 0 for what is free, and then reports nothing as unpriced', async () => {
  const served = 'provider: openai, model: m, baseUrl: "http://127.0.0.1:8000/v1", price: 0';
  write(`conductor: { ${served} }\nworkers: [{ id: a, ${served} }]\n`);
  const { config, unpriced } = await loadConfig({ env: {}, cwd: folder });
  expect(unpriced).toEqual([]);
  expect(resolveRun(config).conductor.price).toEqual({ input: 0, output: 0 });
});

describe('refuses, with place, value and remedy,', () => {
  const worker = (settings: string): string =>
    `conductor: { provider: local, model: smollm2 }\nworkers:\n  - { id: a, provider: local, model: m }\n  - ${settings}\n`;
  const local = (settings: string): string => worker(`{ provider: local, model: m, ${settings} }`);
  const openai = (settings: string): string => worker(`{ id: b, provider: openai, model: m, ${settings} }`);
  const conductor = (settings: string): string =>
    `conductor: { ${settings} }\nworkers:\n  - { id: a, provider: local, model: m }`;

  it.each([
    ['malformed YAML', 'conductor: {\n  provider: [', /^conductor\.yaml:\d+:\d+: this is not valid YAML: /],
    ['an empty file', '', /^conductor\.yaml:1:1: the configuration is null: expected an object/],
    [
      'a missing part',
      SMALLEST.slice(0, 48),
      /^conductor\.yaml:\d+:\d+: workers is missing: expected a list/,
    ],
    [
      'a price that is none',
      openai('price: -1'),
      /workers\[1\]\.price is -1: expected 0, or USD per million tokens, e\.g\. \{ input: 2, output: 10 \}$/,
    ],
    [
      'a wrong type',
      openai('price: { input: cheap, output: 1 }'),
      /^conductor\.yaml:4:51: workers\[1\]\.price\.input is "cheap": expected a number/,
    ],
    [
      'an unknown provider',
      worker('{ id: b, provider: acme, model: m }'),
      /^conductor\.yaml:4:14: workers\[1\]\.provider is "acme": expected one of openai, anthropic, google, local, /,
    ],
    [
      'an unknown setting',
      local('modle: m, id: b'),
      /^conductor\.yaml:4:34: workers\[1\]\.modle \(did you mean model\?\) is not a setting/,
    ],
    [
      'a setting of another provider',
      worker('{ id: b, provider: google, api: chat, model: m }'),
      /workers\[1\]\.api is not a setting/,
    ],
    [
      'a repeated id',
      local('id: a'),
      /^conductor\.yaml:4:34: workers\[1\]\.id is "a": workers\[0\] has this id already/,
    ],
    ['an id with a space', local('id: a b'), /workers\[1\]\.id is "a b": expected/],
    ['the id of the Conductor', local('id: conductor'), /is reserved for the Conductor/],
    [
      'an unknown fallback',
      local('id: b, fallback: [c]'),
      /^conductor\.yaml:4:52: workers\[1\]\.fallback\[0\] is "c": expected one of a, b/,
    ],
    [
      'an unknown worker for side requests',
      `${local('id: b')}\ngateway: { side: c }`,
      /^conductor\.yaml:\d+:\d+: gateway\.side is "c": expected one of a, b/,
    ],
    [
      'a worker that stands in for itself',
      local('id: b, fallback: [b]'),
      /fallback\[0\] is "b": a worker cannot stand in for itself/,
    ],
    [
      'an external worker without its type',
      worker('{ id: b, provider: activity, taskQueue: q }'),
      /workers\[1\]\.type is missing/,
    ],
    [
      'no workers',
      'conductor: { provider: local, model: m }\nworkers: []',
      /workers is \[\]: expected at least one/,
    ],
    ['too long a duration', `${SMALLEST}limits: { wallClock: 25d }`, /is "25d": expected a duration/],
    [
      'no steps',
      `${SMALLEST}limits: { steps: 0 }`,
      /limits\.steps is 0: expected a whole number from 1 to 50/,
    ],
    [
      'too many calls',
      `${SMALLEST}limits: { calls: 201 }`,
      /limits\.calls is 201: expected a whole number from 1 to 200/,
    ],
    [
      'a store of no kind',
      `${SMALLEST}store: https://bucket/x`,
      /store is "https:\/\/bucket\/x": expected sqlite:PATH, postgres:\/\/USER@HOST\/DATABASE or s3:\/\/BUCKET\/PREFIX/,
    ],
    [
      'a rate by provider without queues by provider',
      `${SMALLEST}temporal: { callsPerSecond: { openai: 5 } }`,
      /temporal\.callsPerSecond .*is kept by the queue of that provider; set queuePerProvider: true or remove it/,
    ],
    [
      'a rate of a provider that is none',
      `${SMALLEST}temporal: { queuePerProvider: true, callsPerSecond: { opneai: 5 } }`,
      /temporal\.callsPerSecond\.opneai/,
    ],
    ['a rate of nothing', local('id: b, rate: { requestsPerMinute: 0 }'), /\.rate\.requestsPerMinute is 0/],
    [
      'a circuit that is neither set up nor off',
      local('id: b, circuit: true'),
      /workers\[1\]\.circuit is true: expected false, or \{ failures, pause \}/,
    ],
    [
      'a checkpoint by half its name',
      conductor('provider: policy, checkpoint: "000040"'),
      /^conductor\.yaml:1:\d+: conductor\.checkpoint is "000040": expected the name of a checkpoint, <training run>/,
    ],
    [
      'nothing where a variable is named',
      conductor('provider: openai, model: m, apiKeyEnv: null'),
      /conductor\.apiKeyEnv cannot be used: expected the name of an environment variable/,
    ],
    [
      'how a checkpoint is asked, which its manifest decides',
      conductor('provider: policy, describe: names'),
      /conductor\.describe is not a setting: remove or rename/,
    ],
    [
      "access otherwise than by a checkpoint's manifest",
      conductor('provider: policy, access: any'),
      /conductor\.access is not a setting: remove or rename/,
    ],
    [
      'a checkpoint as a worker',
      worker('{ id: b, provider: policy }'),
      /workers\[1\]\.provider is "policy": expected one of openai, anthropic, google, local, activity, workflow/,
    ],
  ])('%s', (_, text, expected) => {
    expect(problemOf(text)).toMatch(expected);
  });

  it('every fault at once, one per line, from top to bottom', () => {
    const problem = problemOf(`limit: 1\n${worker('{ id: b }')}${'\n'.repeat(6)}limits: { steps: 0 }\n`);
    expect(problem.match(/(?<=^conductor\.yaml:)\d+/gm)).toEqual(['1', '5', '12']);
  });

  it.each([
    ['as the name of the variable', 'apiKeyEnv: sk-Secret-123'],
    ['as a setting we do not have', 'apiKey: sk-Secret-123'],
    ['within an address', 'baseUrl: https://sk-Secret-123@host/v1'],
    ['as a query', 'baseUrl: https://host/v1?key=sk-Secret-123'],
    ['as the password of a proxy', 'proxy: http://user:sk-Secret-123@host:3128'],
    ['in a line that is no YAML', 'apiKeyEnv: "sk-Secret-123'],
  ])('a key %s, without repeating it', (_, setting) => {
    const problem = problemOf(openai(setting));
    expect(problem).toMatch(/^conductor\.yaml:\d+:\d+: /);
    expect(problem).not.toContain('Secret');
  });

  it('a proxy on the way to this machine, wherever the model is named', () => {
    const model =
      'provider: openai, model: m, baseUrl: http://localhost:8000/v1, proxy: http://proxy.example:3128';
    const problem = problemOf(
      `conductor: { ${model} }\nworkers: [{ id: a, ${model} }]\nconductors: { other: { ${model} } }\n`,
    );
    for (const place of ['conductor', 'workers[0]', 'conductors.other']) {
      expect(problem).toContain(`${place}.proxy cannot be used: its baseUrl is an address of this machine`);
    }
  });

  it('a key in the file, and says where it belongs', () => {
    expect(problemOf(openai('api_key: sk-Secret-123'))).toMatch(/api_key is not a setting: .* apiKeyEnv$/);
  });
});
