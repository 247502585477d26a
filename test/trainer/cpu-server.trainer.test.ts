import { join } from 'node:path';
import {
  askPolicy,
  PolicyClient,
  type PolicyQuestion,
  type ServedPolicy,
} from '../../src/training/policy/client';
import { POLICY_FAILURES } from '../../src/training/policy/errors';
import { type PythonProgram, runPython } from '../../research/support/programs';
import { makeTinyPolicy } from './support/tiny-policy';
import { freshFolder } from '../local/fresh-folder';

/*
 * Tests the client against our own policy server, in another process and with a model of random weights.
 */

let folder: string;
let server: PythonProgram;
let baseUrl: string;
beforeAll(async () => {
  folder = await freshFolder();
  await Promise.all([makeTinyPolicy(join(folder, 'one'), 1), makeTinyPolicy(join(folder, 'other'), 2)]);
  await start();
}, 120_000);
afterAll(async () => {
  await server.stop();
});

async function start(port = 0): Promise<void> {
  server = await runPython('policy_server', ['--port', `${port}`, '--model', `one=${join(folder, 'one')}`]);
  const { url } = server.ready as { readonly url: string };
  baseUrl = `${url}/v1`;
}

const never = new AbortController().signal;
const MESSAGES = [{ role: 'user', text: 'How much is 17 and 26?' }] as const;

function policyOf(model: string, change: Partial<ServedPolicy> = {}): ServedPolicy {
  const place = join(folder, model);
  const tokens = { vocabulary: 400, maxPromptTokens: 200 };
  return { model, folder: place, ...tokens, baseUrl, chat: 'chatml', ...change };
}

function questionOf(change: Partial<PolicyQuestion> = {}): PolicyQuestion {
  return { messages: MESSAGES, n: 4, seed: 7, temperature: 1, maxTokens: 20, ...change };
}

const START = 1;
const END = 2;

test('the model’s own template writes a prompt, and a question that contains its markers adds none', async () => {
  const messages = [{ role: 'user', text: 'say <|im_end|> and <|im_start|>' }] as const;
  const { promptTokenIds: ids } = await askPolicy(policyOf('one'), questionOf({ messages }), never);
  expect(ids.filter((id) => id === START)).toHaveLength(2);
  expect(ids.filter((id) => id === END)).toHaveLength(1);
  const raw = [{ role: 'user', content: 'say <|im_end|> and <|im_start|>' }] as const;
  const unprepared = await new PolicyClient(baseUrl).tokenize('one', raw, never);
  expect(unprepared.filter((id) => id === END)).toHaveLength(2);
});

test('replies come with the ids and log-probabilities of all tokens, and are the same for the same seed', async () => {
  const { promptTokenIds, samples } = await askPolicy(policyOf('one'), questionOf(), never);

  expect(promptTokenIds.length).toBeGreaterThan(10);
  expect(samples).toHaveLength(4);
  for (const { completionTokenIds: tokenIds, sampledLogprobs, text, finishReason } of samples) {
    expect(sampledLogprobs).toHaveLength(tokenIds.length);
    expect(text).not.toContain('<|im_end|>');
    if (finishReason === 'length') expect(tokenIds).toHaveLength(20);
  }
  expect(new Set(samples.map(({ text }) => text)).size).toBeGreaterThan(1);
  expect((await askPolicy(policyOf('one'), questionOf(), never)).samples).toEqual(samples);
  expect((await askPolicy(policyOf('one'), questionOf({ seed: 8 }), never)).samples).not.toEqual(samples);
});

test('a complete reply ends with the end marker, and a reply cut short does not', async () => {
  const { samples } = await askPolicy(policyOf('one'), questionOf({ n: 64, maxTokens: 100 }), never);
  for (const { completionTokenIds: tokenIds, finishReason } of samples) {
    expect(tokenIds.at(-1) === END).toBe(finishReason === 'stop');
    expect(tokenIds.slice(0, -1)).not.toContain(END);
  }
  expect(samples.map(({ finishReason }) => finishReason)).toContain('stop');
});

test('a checkpoint unknown to the server is loaded from its folder, even by several requests at once', async () => {
  const asked = await Promise.all([1, 2, 3].map(() => askPolicy(policyOf('other'), questionOf(), never)));
  expect(new Set(asked.map(({ samples }) => JSON.stringify(samples))).size).toBe(1);
});

test.each([
  [
    'a folder that is not there',
    'third',
    20,
    POLICY_FAILURES.unknownModel,
    /cannot load third from \/nowhere/,
  ],
  [
    'more tokens than the model has places for',
    'one',
    600,
    POLICY_FAILURES.rejected,
    /answered 400, .*maximum context length is 512/,
  ],
] as const)('%s', async (_, model, maxTokens, code, message) => {
  const asked = askPolicy(policyOf(model, { folder: '/nowhere' }), questionOf({ maxTokens }), never);
  await expect(asked).rejects.toMatchObject({ code, message: expect.stringMatching(message) as string });
});

test('a server restarted after a kill answers as before, and loads again what it had loaded', async () => {
  const before = await askPolicy(policyOf('other'), questionOf(), never);
  await server.kill();
  await expect(askPolicy(policyOf('other'), questionOf(), never)).rejects.toMatchObject({
    code: POLICY_FAILURES.unavailable,
  });
  await start(Number(new URL(baseUrl).port));
  expect(await askPolicy(policyOf('other'), questionOf(), never)).toEqual(before);
});

test('an aborted request ends at once', async () => {
  const controller = new AbortController();
  const asked = askPolicy(policyOf('one'), questionOf({ n: 256, maxTokens: 300 }), controller.signal);
  controller.abort(new Error('no longer wanted'));
  await expect(asked).rejects.toThrow('no longer wanted');
});
