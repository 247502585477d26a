import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import OpenAI from 'openai';
import { questionSet } from '../world/questions';
import { replyAs } from '../world/simulate';
import { SMALL_WORLD } from '../world/world';
import { workerMessages } from '../../src/plan/prompt/worker';
import { runChild } from '../support/programs';
import { freshFolder } from '../../test/local/fresh-folder';

const PROGRAM = resolve(__dirname, '../world/serve.ts');

test('a world in its own process gives the same call the same reply after being killed and restarted', async () => {
  const log = join(await freshFolder(), 'log.jsonl');
  const [{ question } = { question: '' }] = questionSet(SMALL_WORLD, 'train', 1, 0);
  const [message] = workerMessages({ question, subtask: 'Solve it.', sees: [], layout: 'tagged' });
  const prompt = message?.text ?? '';
  const ask = async (url: string) => {
    const client = new OpenAI({ apiKey: 'key-of-a-test', baseURL: `${url}/v1`, maxRetries: 0 });
    const body = { model: 'maths', messages: [{ role: 'user' as const, content: prompt }] };
    const { choices } = await client.chat.completions.create(body, {
      headers: { 'X-Client-Request-Id': 'a call' },
    });
    return choices[0]?.message.content;
  };
  const begin = (port: string) =>
    runChild(PROGRAM, ['--world', 'small', '--seed', '3', '--port', port, '--log', log], process.env);

  const first = begin('0');
  const url = await first.nextLine();
  const reply = await ask(url);
  expect(reply).toBe(replyAs(SMALL_WORLD, 3, { worker: 'maths', prompt, callId: 'a call' }));
  await first.kill();

  const second = begin(new URL(url).port);
  expect(await second.nextLine()).toBe(url);
  expect(await ask(url)).toBe(reply);
  await second.kill();
  const received = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"received"'));
  expect(received.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { sequence: 1 },
    { sequence: 2 },
  ]);
});

test.each([
  ['--world', 'large', '--world takes one of small, middle, whole, not "large".'],
  ['--seed', 'luck', '--seed takes a whole number from 0, not "luck".'],
  ['--port', 'http', '--port takes a number from 0'],
])('%s %s is refused in a sentence', async (option, value, sentence) => {
  const program = runChild(PROGRAM, [option, value], process.env);
  await expect(program.nextLine()).rejects.toThrow(sentence);
  expect(await program.ended()).toBe(2);
});
