import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../../..');

/** Script that asks the built engine in a process of its own, since jest cannot load its ES modules. */
const SCRIPT = `
const { createCompleteLocal } = require('./lib/activities/models/local');
const { fetchSmolLm2 } = require('./lib/local/downloads');
const { defaultConfig } = require('./lib/config/default-pool');
const { parseConfig } = require('./lib/config/load');
const { resolveRun } = require('./lib/config/resolve-run');
const { workerMessages } = require('./lib/plan/prompt/worker');

const conductor = { provider: 'local', model: 'smollm2', temperature: 0, effort: 'low' };
const config = parseConfig({ conductor, workers: [{ id: 'small', provider: 'local', model: 'smollm2' }] });
const card = resolveRun(config).conductor;
const complete = createCompleteLocal(() => fetchSmolLm2());
const ask = (text, more) =>
  complete({
    card,
    messages: [{ role: 'user', text }],
    maxOutputTokens: 60,
    apiKey: null,
    signal: new AbortController().signal,
    ...more,
  }).catch((error) => ({ error: error.message }));

const schema = {
  type: 'object',
  properties: { city: { type: 'string', maxLength: 20 }, sees: { type: 'string', enum: ['none', 'all'] } },
  required: ['city', 'sees'],
  additionalProperties: false,
};

/** Answers by the plan and with the worker of someone who configured nothing. */
const askUnconfigured = async (question) => {
  const { config } = await defaultConfig({}, () => Promise.resolve(null));
  const { conductor, workers: [worker] } = resolveRun(parseConfig(config));
  const outputs = [];
  for (const { subtask, sees } of conductor.plan.steps) {
    const seen = sees.map((step) => ({ ...conductor.plan.steps[step], step, output: outputs[step] }));
    const messages = workerMessages({ question, subtask, sees: seen, layout: worker.layout });
    const { text } = await ask('', { card: worker, messages, maxOutputTokens: worker.maxOutputTokens });
    outputs.push(text);
  }
  return outputs;
};

/** A prompt after which the model said "a leaf is left alone" until it was cut off. */
const rambling = workerMessages({
  question: 'Write a haiku about autumn.',
  subtask: 'Answer the question in one or two sentences.',
  sees: [],
  layout: 'tagged',
});

(async () => {
  const paris = 'What is the capital of France?';
  const free = await ask(paris);
  const running = new AbortController();
  setTimeout(() => running.abort(new Error('given up')), 50);
  const replies = {
    free,
    given_up: await ask('Write a long story about the sea.', { maxOutputTokens: 4000, signal: running.signal }),
    held: await ask(paris, { outputSchema: { name: 'city', schema } }),
    cut: await ask(paris, { maxOutputTokens: 3 }),
    again: await ask(paris),
    long: await ask('x '.repeat(9000)),
    unconfigured: [await askUnconfigured(paris), await askUnconfigured('Why is the sky blue?')],
    rambling: await ask('', { messages: rambling, maxOutputTokens: 120 }),
    missing: await ask(paris, { card: { ...card, model: 'gone.gguf' } }),
  };
  process.stdout.write(JSON.stringify(replies));
})();
`;

interface Reply {
  readonly text: string;
  readonly finish: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
  readonly dropped: readonly string[];
  readonly error?: string;
}

describe('a local model', () => {
  let replies: Record<
    'given_up' | 'free' | 'held' | 'cut' | 'again' | 'long' | 'missing' | 'rambling',
    Reply
  > & {
    readonly unconfigured: readonly [capital: string[], sky: string[]];
  };
  let stderr: string;

  beforeAll(async () => {
    const run = await promisify(execFile)(process.execPath, ['-e', SCRIPT], { cwd: ROOT });
    replies = JSON.parse(run.stdout) as typeof replies;
    stderr = run.stderr;
  }, 180_000);

  it('answers, counts its tokens, and reports a setting that it does not support', () => {
    expect(replies.free).toMatchObject({ finish: 'stop', dropped: ['effort'] });
    expect(replies.free.text).toContain('Paris');
    expect(replies.free.usage.inputTokens).toBeGreaterThan(10);
    expect(replies.free.usage.outputTokens).toBeGreaterThan(3);
  });

  it('follows a schema', () => {
    const value = JSON.parse(replies.held.text) as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['city', 'sees']);
    expect(['none', 'all']).toContain(value.sees);
  });

  it('reports that its answer was cut off', () => {
    expect(replies.cut).toMatchObject({ finish: 'length', usage: { outputTokens: 3 } });
  });

  it('gives the same answer whatever it was asked before', () => {
    expect(replies.again).toEqual(replies.free);
  });

  it('stops when aborted, and serves the next request', () => {
    expect(replies.given_up).toEqual({ error: 'given up' });
  });

  it('refuses a prompt that exceeds its context instead of truncating it', () => {
    expect(replies.long.error).toMatch(/the prompt has \d+ tokens and the model's context holds 8192/);
  });

  it('answers briefly with the plan of the default configuration', () => {
    const [capital, sky] = replies.unconfigured;
    expect(capital).toEqual([expect.stringContaining('Paris'), expect.stringContaining('Paris')]);
    expect(sky).toEqual([expect.stringContaining('light'), expect.stringContaining('light')]);
    // The length depends on rounding, which differs between processors.
    for (const text of [...capital, ...sky]) expect(text).toMatch(/^[A-Z][^]{10,1000}$/);
  });

  it('does not repeat itself', () => {
    const parts = replies.rambling.text.split(/[.,:\n]+/).map((part) => part.trim());
    expect(new Set(parts).size).toBe(parts.length);
  });

  it('names a missing file', () => {
    expect(replies.missing.error).toMatch(/gone\.gguf does not exist; name a GGUF file/);
  });

  it('writes nothing to stderr', () => {
    expect(stderr).toBe('');
  });
});
