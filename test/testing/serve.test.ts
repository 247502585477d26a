import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import OpenAI from 'openai';

type Child = ChildProcessByStdio<null, Readable, Readable>;

// The built program: `npm test` builds first.
const PROGRAM = resolve(__dirname, '../../lib/testing/serve.js');

let folder: string;
let child: Child | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'serve-'));
});
afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

function serve(...args: string[]): Child {
  child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  return child;
}

/** Fails with the program's own words if it ends instead. */
async function firstLineOf(server: Child): Promise<string> {
  for await (const line of createInterface(server.stdout)) return line;
  throw new Error(await text(server.stderr));
}

function fileWith(content: string): string {
  const file = join(folder, 'script.json');
  writeFileSync(file, content);
  return file;
}

test('plays a script, logs each request before and after, and ends on SIGTERM', async () => {
  const models = { gpt: { script: [{ fault: 'unavailable' }], answer: 'Because.', delayMs: 1 } };
  const log = join(folder, 'log.jsonl');
  const server = serve('--port', '0', '--script', fileWith(JSON.stringify({ models })), '--log', log);
  const url = await firstLineOf(server);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

  const client = new OpenAI({ apiKey: 'key-of-a-test', baseURL: `${url}/v1`, maxRetries: 0 });
  const ask = () => client.responses.create({ model: 'gpt', input: 'Why?' });
  await expect(ask()).rejects.toMatchObject({ status: 503 });
  expect((await ask()).output_text).toBe('Because.');

  const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: 'received', sequence: 1, model: 'gpt', outcome: null },
    { event: 'finished', sequence: 1, model: 'gpt', outcome: 'fault:unavailable', usage: null },
    { event: 'received', sequence: 2, model: 'gpt', outcome: null },
    { event: 'finished', sequence: 2, model: 'gpt', outcome: 'answered', usage: { outputTokens: 2 } },
  ]);

  server.kill('SIGTERM');
  expect(await once(server, 'exit')).toEqual([0, null]);
});

test.each([
  ['a port that is none', () => ['--port', 'http'], '--port takes a number from 0'],
  ['a missing file', () => ['--script', '/no/such/file.json'], '/no/such/file.json cannot be read'],
  ['a file that is no JSON', () => ['--script', fileWith('{')], 'cannot be read as one: SyntaxError'],
  [
    'a fault that does not exist',
    () => ['--script', fileWith('{"models":{"gpt":{"answer":{"fault":"flood"}}}}')],
    'models.gpt.answer',
  ],
  ['an unknown option', () => ['--colour'], "Unknown option '--colour'"],
])('%s: one sentence, exit code 2, nothing started', async (_, args, sentence) => {
  const server = serve(...args());
  const [output, errors, [code]] = await Promise.all([
    text(server.stdout),
    text(server.stderr),
    once(server, 'exit') as Promise<[number]>,
  ]);
  expect([code, output]).toEqual([2, '']);
  expect(errors).toContain(sentence);
});
