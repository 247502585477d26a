import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/errors';
import type { TrainableConfig, TrainableInput } from '../../src/training';
import {
  budgetNoticesOf,
  parseTrainable,
  readGivenTrainable,
  shippedProfiles,
} from '../../src/training/config/load';
import { EXAMPLE_SETS } from '../../src/plan/prompt/example-plans';
import { resolveTraining } from '../../src/training/config';
import { trainerConfigSchema } from '../../src/training/trainer-contract';
import { freshFolder } from '../local/fresh-folder';

const PROFILES = shippedProfiles().map(({ name }) => name);
const PRICE = { input: 1, output: 2 };
const MODEL = { provider: 'openai', baseUrl: 'http://127.0.0.1:9/v1', model: 'm' } as const;
const data = { train: 'train.jsonl', heldOut: 'held-out.jsonl' };
const smallest = {
  data,
  base: { kind: 'folder', path: 'models/qwen' },
  policy: { baseUrl: 'http://127.0.0.1:8001/v1' },
} as const;

let folder: string;
beforeEach(async () => (folder = await freshFolder()));

function configOf(
  training: TrainableInput['training'],
  changes: Partial<TrainableInput> = {},
): TrainableConfig {
  const workers = ['a', 'b', 'c'].map((id) => ({ ...MODEL, id, price: PRICE }));
  return parseTrainable({ conductor: MODEL, workers, training, ...changes });
}

const exampleWith = (step: string): string =>
  `- { question: Why?, reasoning: So., plan: { steps: [${step}] } }\n`;

describe('the default settings', () => {
  const settings = resolveTraining(configOf(smallest));

  test('are those of the paper', () => {
    expect(settings).toMatchObject({
      questions: 4,
      groupSize: 64,
      keepFlat: false,
      minFormatRate: 0.95,
      reward: { unparseable: 0, parseable: 0.5, correct: 1, costWeight: 0, lengthWeight: 0 },
      policy: {
        temperature: 1,
        describe: 'ordinals',
        access: 'binary',
        examples: EXAMPLE_SETS['out-of-domain'],
        maxPromptTokens: 8192,
        maxOutputTokens: 1024,
      },
      pool: { adaptive: false, permuteIds: false },
      recursion: { rounds: 1, rootDiscount: 0.25, baseline: 'question' },
    });
    expect(settings.trainer).toMatchObject({
      seed: 42,
      tuning: { kind: 'full' },
      loss: { name: 'bnpo', epsilon: 0.2, epsilonHigh: 0.2, ratio: 'token', beta: 0, entropy: 0 },
      optimizer: { learningRate: 1e-6, beta2: 0.999, schedule: 'cosine', warmupSteps: 6, totalSteps: 200 },
      scale: 'group',
      maxAdvantage: null,
      rollouts: 256,
      iterations: 1,
    });
  });

  test('make a configuration that the trainer accepts', () => {
    const { taskQueue, ...trainer } = settings.trainer;
    expect(taskQueue).toBe('conductor-trainer');
    expect(trainerConfigSchema.parse(trainer)).toEqual(trainer);
  });
});

describe('a setting', () => {
  test('reaches every part that depends on it', () => {
    const config = configOf({
      ...smallest,
      totalCycles: 30,
      groupSize: 8,
      temperature: 0.9,
      reward: { scale: 'batch', maxAdvantage: 3 },
      recursion: { rounds: 2 },
      trainer: { iterations: 2, minibatches: 3 },
      budget: { costUsd: 1.5, hours: 0.5 },
      policy: { ...smallest.policy, patience: '90s' },
      keep: { every: 10 },
    });
    const settings = resolveTraining(config);
    expect(settings.policy).toMatchObject({ temperature: 0.9, patienceMs: 90_000 });
    expect(settings.keep).toEqual({ last: 5, every: 10 });
    expect(settings.budget).toEqual({ nanoUsd: 1_500_000_000, wallClockMs: 1_800_000 });
    expect(settings.trainer).toMatchObject({
      scale: 'batch',
      maxAdvantage: 3,
      rollouts: 64,
      groupSize: 8,
      temperature: 0.9,
    });
    expect(settings.trainer.optimizer.totalSteps).toBe(180);
  });

  test('that the policy thinks reaches its prompts and its trainer, and is not there if it does not', () => {
    const masked = { ...smallest, policy: { ...smallest.policy, thinking: 'masked' as const } };
    const { policy, trainer } = resolveTraining(configOf(masked));
    expect([policy.thinking, trainer.thinking]).toEqual(['masked', 'masked']);
    // Otherwise, checkpoints of earlier versions would have been made from another request.
    const usual = resolveTraining(configOf(smallest));
    expect(JSON.stringify([usual.policy, usual.trainer])).not.toContain('thinking');
  });

  test('of one night overrides the configured one', () => {
    const config = configOf({ ...smallest, run: 'sums', cycles: 5 });
    expect(resolveTraining(config)).toMatchObject({ trainRun: 'sums', cycles: 5 });
    const asked = { trainRun: 'other', cycles: 7 };
    expect(resolveTraining(config, asked)).toMatchObject(asked);
  });

  test('imitation shortens the learning-rate schedule, and later imitation requires a constant one', () => {
    const imitation = { cycles: 10, steps: 4, learningRate: 1e-3 };
    const [first, again] = [imitation, { ...imitation, again: { every: 5, steps: 20 } }];
    expect(resolveTraining(configOf({ ...smallest, imitation: first })).trainer.optimizer.totalSteps).toBe(
      190,
    );
    expect(() => configOf({ ...smallest, imitation: again })).toThrow(
      /training\.imitation\.again is .*: expected "trainer\.optimizer\.schedule" to be constant/,
    );
    const trainer = { optimizer: { schedule: 'constant' as const } };
    expect(resolveTraining(configOf({ ...smallest, imitation: again, trainer })).imitation).toMatchObject(
      again,
    );
  });

  test('own slots keep nights off the queues of providers', () => {
    const resolved = [{}, { slots: 4 }].map((change) =>
      resolveTraining(configOf({ ...smallest, ...change }, { temporal: { queuePerProvider: true } })),
    );
    expect(resolved.map(({ run }) => run.queuePerProvider)).toEqual([true, false]);
  });

  test('plans may be written by a checkpoint that does not exist yet', () => {
    const { run } = resolveTraining(configOf(smallest, { conductor: { provider: 'policy' } }));
    expect(run.workers).toHaveLength(3);
  });

  test('limits of a run are scaled up to those of a group', () => {
    const limits = { calls: 10, costUsd: 0.1, tokens: 1000, depth: 2, wallClock: '1m' };
    const training = { ...smallest, groupSize: 20, window: 8, recursion: { rounds: 2 as const } };
    const { run } = resolveTraining(configOf(training, { limits }));
    const spending = { calls: 400, nanoUsd: 4_000_000_000, tokens: 40_000 };
    expect(run.limits).toMatchObject({ ...spending, depth: 0, steps: 5, wallClockMs: 300_000 });
    expect(resolveTraining(configOf(smallest, { limits: { costUsd: null } })).run.limits.nanoUsd).toBeNull();
  });
});

describe('a profile', () => {
  test.each(PROFILES)('%s needs only questions, and says where it departs from the paper', (profile) => {
    const { taskQueue, ...trainer } = resolveTraining(configOf({ profile, data })).trainer;
    expect(taskQueue).toBe('conductor-trainer');
    expect(trainerConfigSchema.parse(trainer)).toEqual(trainer);
    const text = readFileSync(join(__dirname, `../../profiles/${profile}.yaml`), 'utf8');
    const head = text.slice(0, text.search(/^[^#]/m));
    expect(head).toMatch(/Departs from/);
    for (const estimate of ['rollouts', 'calls', 'tokens', /\$\d/, /hours|hour/])
      expect(head).toMatch(estimate);
  });

  test('of the smaller Conductor trains like that of the paper, on fewer processes', () => {
    const settingsOf = (profile: string) => resolveTraining(configOf({ profile, data }));
    const { trainer, ...paper } = settingsOf('paper');
    const small = settingsOf('paper-3b');
    const base = { kind: 'folder', path: 'models/Qwen2.5-3B-Instruct' };
    expect(small).toEqual({ ...paper, profile: 'paper-3b', base, trainer: { ...trainer, processes: 2 } });
  });

  test('gives defaults, which can be overridden key by key', () => {
    const own = { questions: 2, trainer: { optimizer: { learningRate: 0.001 } } };
    const { trainer, questions, policy } = resolveTraining(configOf({ profile: 'cpu-demo', data, ...own }));
    expect([questions, policy.prompt, trainer.device]).toEqual([2, 'compact', 'cpu']);
    expect(trainer.optimizer).toMatchObject({ learningRate: 0.001, schedule: 'constant', warmupSteps: 10 });
  });

  test('contributes nothing to a section of another kind', () => {
    const base = { kind: 'folder', path: 'models/mine' } as const;
    expect(configOf({ profile: 'cpu-demo', data, base }).training?.base).toEqual(base);
  });

  test('may be a file; an unknown name is refused with the profiles that exist', () => {
    const profile = join(folder, 'mine.yaml');
    const settings = 'base: { kind: tiny }\npolicy: { baseUrl: "http://127.0.0.1:8001/v1" }\ncycles: 3\n';
    writeFileSync(profile, settings);
    expect(resolveTraining(configOf({ profile, data })).cycles).toBe(3);
    writeFileSync(profile, '- one\n');
    expect(() => configOf({ profile, data })).toThrow('holds no mapping');
    const unknown =
      'training.profile is "cpu", and there is no such profile: name one of 70b-lora, cpu-demo, paper';
    expect(() => configOf({ profile: 'cpu', data })).toThrow(unknown);
  });
});

describe('what cannot be trained is refused:', () => {
  test.each([
    ['an unknown setting', { width: 4 }, 'training.width is not a setting'],
    ['a base of another kind', { base: { kind: 'hub' } }, 'training.base.kind is "hub": expected one of'],
    [
      'vLLM before there is a base',
      { base: { kind: 'tiny' }, policy: { ...smallest.policy, serve: { engine: 'vllm' } } },
      'expected "base: { kind: folder, path: … }" as well',
    ],
    ['no questions', { data: { train: 'a' } }, 'training.data.heldOut is missing'],
    ['more cycles than a night has', { cycles: 1e9 }, 'training.cycles is 1000000000: expected'],
    ['more plans than a group has', { groupSize: 1025 }, 'training.groupSize is 1025: expected'],
    [
      'more minibatches than rollouts fill',
      { groupSize: 2, trainer: { minibatches: 3 } },
      'training.trainer.minibatches is 3: expected fewer',
    ],
    [
      'an adapter kept in host memory',
      { trainer: { offload: true, tuning: { kind: 'lora' } } },
      'training.trainer.offload is true: expected "tuning: { kind: full }" as well',
    ],
    [
      'sizes that do not make up the processes',
      { trainer: { processes: 4, parallelism: { dpReplicateSize: 2 } } },
      'expected sizes whose product is "processes", which is 4',
    ],
    [
      'an adapter of a model that is shared and copied',
      {
        trainer: {
          processes: 4,
          parallelism: { dpReplicateSize: 2, dpShardSize: 2 },
          tuning: { kind: 'lora' },
        },
      },
      'training.trainer.parallelism is {"dpReplicateSize":2,"dpShardSize":2}: expected 1 for one of them',
    ],
    [
      'layers computed by several processes',
      { trainer: { processes: 2, parallelism: { tpSize: 2 } } },
      'training.trainer.parallelism.tpSize is 2: accelerate has no tensor parallelism on CPUs',
    ],
    [
      'weights in 4 bits of several processes',
      { trainer: { processes: 2, tuning: { kind: 'lora', quantize: '4bit' } } },
      'training.trainer.processes is 2: expected 1: bitsandbytes shares neither',
    ],
    [
      'moments in 8 bits of several processes',
      { trainer: { processes: 2, optimizer: { name: 'adamw8bit' } } },
      'training.trainer.processes is 2: expected 1: bitsandbytes shares neither',
    ],
    [
      'weights in 4 bits that all learn',
      { trainer: { tuning: { kind: 'full', quantize: '4bit' } } },
      'training.trainer.tuning.quantize is not a setting',
    ],
    ['fewer draws than questions', { maxDraws: 3 }, 'training.maxDraws is 3: expected at least as many'],
    ['right answers that earn nothing', { reward: { correct: 0.5 } }, 'training.reward.correct is 0.5'],
    ['ordinals of changing workers', { pool: { adaptive: true } }, 'training.policy.describe'],
    ['teams held back from all', { pool: { heldOut: [['a']] } }, 'expected "adaptive: true" as well'],
    [
      'examples where none are shown',
      { policy: { ...smallest.policy, prompt: 'compact', examples: 'mixed' } },
      'training.policy.examples is "mixed": expected "prompt: full" as well',
    ],
    [
      'a name that is no folder',
      { run: 'My Run' },
      'training.run is "My Run": expected up to 63 lowercase letters',
    ],
  ])('%s', (_, change, message) => {
    const file = join(folder, 'conductor.yaml');
    const workers = [{ ...MODEL, id: 'a' }];
    // JSON is valid YAML.
    writeFileSync(file, JSON.stringify({ conductor: MODEL, workers, training: { ...smallest, ...change } }));
    expect(() => readGivenTrainable(file)).toThrow(message);
  });

  test('with file, line and setting, if it comes from a file', () => {
    const file = join(folder, 'conductor.yaml');
    const model = 'provider: local, model: smollm2';
    const lines = [`conductor: { ${model} }`, `workers: [{ id: a, ${model} }]`, 'training:'];
    writeFileSync(file, [...lines, '  profile: cpu-demo', '  groupSize: many'].join('\n'));
    expect(() => readGivenTrainable(file)).toThrow(
      `${file}:5:3: training.groupSize is "many": expected a number`,
    );
  });

  test('with what to write, if a part is missing altogether', () => {
    const refusal = (): unknown => configOf({});
    expect(refusal).toThrow('training.data is missing: expected two files of questions');
    expect(refusal).toThrow('training.base is missing: expected the model to start from');
    expect(refusal).toThrow('training.policy is missing: expected the address of the policy server');
  });

  test('a configuration without training', () => {
    expect(() => resolveTraining(configOf(undefined))).toThrow('has no "training:"');
  });

  test.each([
    [{ least: 4 }, 'training.pool.least is 4, and there are 3 workers'],
    [{ heldOut: [['a'], ['z']] }, 'holds back [z], and there is no worker z: there are a, b, c'],
    [{ heldOut: [['c', 'a', 'b']] }, 'training.pool.heldOut holds back [c, a, b], which are all workers'],
  ])('the pool %j', (pool, message) => {
    const policy = { ...smallest.policy, describe: 'notes' } as const;
    const config = configOf({ ...smallest, policy, pool: { adaptive: true, ...pool } });
    expect(() => resolveTraining(config)).toThrow(message);
  });

  test('own slots together with a rate that counts the calls of a queue', () => {
    const temporal = { queuePerProvider: true, callsPerSecond: { openai: 5 } };
    expect(() => configOf({ ...smallest, slots: 4 }, { temporal })).toThrow(
      /training\.slots .*would not be counted in temporal\.callsPerSecond; remove one of the two/,
    );
  });

  test.each([
    ['no file', null, 'few.yaml", and there is no such file: name one that "train examples --few-shot" made'],
    ['no example', '[]', '1:1: examples is []: expected'],
    [
      'no plan',
      '- { question: Why?, reasoning: So., plan: { steps: [] } }',
      '1:37: examples[0].plan is {"steps":[]}: expected a plan of at least one step',
    ],
    ['a worker by name', exampleWith('{ worker: gpt, subtask: Do it., sees: [] }'), 'are numbers from "0"'],
    ['a step that sees itself', exampleWith('{ worker: "0", subtask: Do it., sees: [0] }'), 'few.yaml:1:'],
    [
      'too much',
      exampleWith(`{ worker: "0", subtask: "${'x'.repeat(8000)}", sees: [] }`).repeat(5),
      'at most 32768',
    ],
  ])('examples with %s', (_, text, message) => {
    const file = join(folder, 'few.yaml');
    if (text !== null) writeFileSync(file, text);
    const policy = { ...smallest.policy, examples: file };
    const refusal = (): unknown => resolveTraining(configOf({ ...smallest, policy }));
    expect(refusal).toThrow(ConfigError);
    expect(refusal).toThrow(message);
  });

  test('a reward that depends on an unknown cost', () => {
    const workers = [{ ...MODEL, id: 'free' }];
    const config = configOf({ ...smallest, reward: { costWeight: 1 } }, { workers });
    expect(() => resolveTraining(config)).toThrow('worker free (openai m) has no known price');
  });
});

test("says that a night's budget cannot be enforced if the price of a worker is unknown", () => {
  const noticesFor = (training: TrainableInput['training'], changes: Partial<TrainableInput>): string[] =>
    budgetNoticesOf(configOf(training, { limits: { costUsd: null }, ...changes }));
  const unpriced = { workers: [{ ...MODEL, id: 'a' }] };
  expect(noticesFor(smallest, unpriced)).toEqual([
    'training.budget.costUsd ($50) cannot be enforced: worker a (openai m) has no known price. ' +
      'Give each worker a "price:"; training.budget.hours still binds.',
  ]);
  expect(noticesFor({ ...smallest, budget: { costUsd: null } }, unpriced)).toEqual([]);
  expect(noticesFor(smallest, {})).toEqual([]);
});
