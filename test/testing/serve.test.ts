import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import { freshFolder } from '../local/fresh-folder';
import { openAiAt } from './sdk-clients';

type Child = ChildProcessByStdio<null, Readable, Readable>;

const COMPILER = resolve(__dirname, '../../scripts/run-typescript.cjs');
const PROGRAM = resolve(__dirname, '../../examples/providers/serve.ts');

const half = { share: 0.5, answer: { fault: 'hang' } };

let folder: string;
let child: Child | undefined;
beforeEach(async () => {
  folder = await freshFolder();
});
afterEach(() => child?.kill('SIGKILL'));

function serve(...args: string[]): Child {
  const program = ['--require', COMPILER, PROGRAM];
  child = spawn(process.execPath, [...program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  return child;
}

/** Returns the server's first line, or fails with its stderr if it ends instead. */
async function firstLineOf(server: Child): Promise<string> {
  for await (const line of createInterface(server.stdout)) return line;
  throw new Error(await text(server.stderr));
}

function eventsIn(log: string): unknown[] {
  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line) as unknown);
}

function fileWith(content: string): string {
  const file = join(folder, 'script.json');
  writeFileSync(file, content);
  return file;
}

test('plays a script, logs each request before and after it, and ends on SIGTERM', async () => {
  const models = { gpt: { script: [{ fault: 'unavailable' }], answer: 'Because.', delayMs: 1 } };
  const log = join(folder, 'log.jsonl');
  const server = serve('--port', '0', '--script', fileWith(JSON.stringify({ models })), '--log', log);
  const url = await firstLineOf(server);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

  const ask = () => openAiAt(url).responses.create({ model: 'gpt', input: 'Why?' });
  await expect(ask()).rejects.toMatchObject({ status: 503 });
  expect((await ask()).output_text).toBe('Because.');

  expect(eventsIn(log)).toMatchObject([
    { event: 'received', sequence: 1, model: 'gpt', outcome: null },
    { event: 'finished', sequence: 1, model: 'gpt', outcome: 'fault:unavailable', usage: null },
    { event: 'received', sequence: 2, model: 'gpt', outcome: null },
    { event: 'finished', sequence: 2, model: 'gpt', outcome: 'answered', usage: { outputTokens: 2 } },
  ]);

  server.kill('SIGTERM');
  expect(await once(server, 'exit')).toEqual([0, null]);
});

test('kill -9 loses nothing of the log, and the next server on the port continues it', async () => {
  const models = { gpt: { script: ['First.', { fault: 'hang' }], price: { input: 1, output: 1 } } };
  const script = fileWith(JSON.stringify({ models }));
  const log = join(folder, 'log.jsonl');
  const begin = async (port: string): Promise<[Child, string]> => {
    const server = serve('--port', port, '--script', script, '--log', log);
    return [server, await firstLineOf(server)];
  };
  const [first, url] = await begin('0');
  const ask = () => openAiAt(url).responses.create({ model: 'gpt', input: 'Why?' });
  await ask();
  const cut = ask();
  while (eventsIn(log).length < 3) await setImmediate();
  const gone = once(first, 'exit');
  first.kill('SIGKILL');
  await expect(cut).rejects.toThrow('Connection error');
  await gone;

  await begin(new URL(url).port);
  expect((await ask()).id).toBe('resp_3');
  expect(eventsIn(log)).toMatchObject([
    { event: 'received', sequence: 1, nanoUsd: null },
    { event: 'finished', sequence: 1, nanoUsd: 3000 },
    { event: 'received', sequence: 2, nanoUsd: null },
    { event: 'received', sequence: 3 },
    { event: 'finished', sequence: 3 },
  ]);
});

test.each([
  ['a port that is none', () => ['--port', 'http'], '--port takes a number from 0'],
  ['a missing file', () => ['--script', '/no/such/file.json'], '/no/such/file.json cannot be read'],
  ['a file that is not JSON', () => ['--script', fileWith('{')], 'cannot be read as one: SyntaxError'],
  [
    'a fault that does not exist',
    () => ['--script', fileWith('{"models":{"gpt":{"answer":{"fault":"flood"}}}}')],
    /no such fault; there are bad-request, .+\n.+models\.gpt\.answer/,
  ],
  [
    'a setting that a fault does not have',
    () => ['--script', fileWith('{"models":{"gpt":{"script":["a",{"fault":"drip","seconds":1}]}}}')],
    /Unrecognized key: "seconds"\n.+models\.gpt\.script\[1\]/,
  ],
  [
    'a reply without a text',
    () => ['--script', fileWith('{"fallback":{"answer":{"delayMs":5}}}')],
    /expected string.*\n.+fallback\.answer\.text/,
  ],
  [
    'shares of more than all',
    () => ['--script', fileWith(JSON.stringify({ fallback: { schedule: [half, half, half] } }))],
    /shares of a schedule add up to more than 1.+\n.+fallback\.schedule/,
  ],
  ['an unknown option', () => ['--colour'], "Unknown option '--colour'"],
])('%s: refused in one sentence with exit code 2, and nothing is started', async (_, args, sentence) => {
  const server = serve(...args());
  const [output, errors, [code]] = await Promise.all([
    text(server.stdout),
    text(server.stderr),
    once(server, 'exit') as Promise<[number]>,
  ]);
  expect([code, output]).toEqual([2, '']);
  expect(errors).toMatch(sentence);
});
