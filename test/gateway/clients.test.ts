import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { openGateway, type TestGateway } from '../support/gateway';
import { openStage, type Stage } from '../support/stage';

/*
 * Clients that people have, unmodified, each in a process of its own and all of them at once. Each asks for a whole answer and
 * for a streamed one at once, as it does where nothing but an address, a key and a model is set.
 */
jest.setTimeout(600_000);

const FOLDER = join(__dirname, 'clients');
const PREPARE = join(__dirname, '../../scripts/prepare-clients.mjs');

const ANSWER = 'A spider has eight legs: four on each side, „ohne“ any exception.';
const REFUSED = 'This model answers no questions about spiders.';
/** A proxy gives up after a minute. */
const SLOW_MS = 50_000;

const CLIENTS = {
  'openai for JavaScript, chat': ['openai-sdk.js', 'chat'],
  'openai for JavaScript, responses': ['openai-sdk.js', 'responses'],
  'openai for Python, chat': ['openai_sdk.py', 'chat'],
  'openai for Python, responses': ['openai_sdk.py', 'responses'],
  'anthropic for JavaScript': ['anthropic-sdk.js'],
  'AI SDK, OpenAI responses': ['ai-sdk.js', 'responses'],
  'AI SDK, OpenAI chat': ['ai-sdk.js', 'chat'],
  'AI SDK, OpenAI compatible': ['ai-sdk.js', 'compatible'],
  'AI SDK, Anthropic': ['ai-sdk.js', 'anthropic'],
  'LangChain for JavaScript': ['langchain.js'],
  'LangChain for Python, OpenAI': ['langchain_sdk.py', 'openai'],
  'LangChain for Python, Anthropic': ['langchain_sdk.py', 'anthropic'],
  llm: ['llm_cli.py'],
  'Codex CLI': ['codex.js'],
} as const satisfies Record<string, readonly string[]>;

const NAMES = Object.keys(CLIENTS) as (keyof typeof CLIENTS)[];

const outcomeSchema = z.object({
  text: z.string().optional(),
  tokens: z.number().optional(),
  error: z.string().optional(),
});
const reportSchema = z.record(z.string(), outcomeSchema);

let stage: Stage;
let gateway: TestGateway;
let python: string;
beforeAll(async () => {
  python = execFileSync(process.execPath, [PREPARE], { encoding: 'utf8' }).trim();
  stage = await openStage({
    workers: ['quick', 'slow', 'failing'],
    simulation: {
      models: {
        quick: { answer: ANSWER },
        slow: { answer: ANSWER, delayMs: SLOW_MS },
        failing: { answer: { fault: 'bad-request', message: REFUSED } },
      },
    },
  });
  gateway = await openGateway(stage);
});
afterAll(async () => {
  await gateway.close();
  await stage.close();
});

/** What came of each of a client's questions, and how often the model was asked for all of them. */
async function ask(worker: string, name: keyof typeof CLIENTS) {
  const question = `How many legs has the spider of ${name}?`;
  const [file, ...args] = CLIENTS[name];
  const env = {
    ...process.env,
    GATEWAY_URL: gateway.url,
    GATEWAY_KEY: await gateway.key(),
    GATEWAY_MODEL: `worker/${worker}`,
    GATEWAY_QUESTION: question,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const command = file.endsWith('.py') ? python : process.execPath;
  const { stdout } = await promisify(execFile)(command, [join(FOLDER, file), ...args], {
    env,
    timeout: 300_000,
  });
  console.log(stdout);
  const outcomes = Object.entries(reportSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')));
  const asked = stage.requestsTo(worker).filter(({ body }) => String(body).includes(question)).length;
  return { outcomes, asked };
}

async function askAll(worker: string) {
  return stage.whileWorking(() =>
    Promise.all(NAMES.map(async (name) => [name, await ask(worker, name)] as const)),
  );
}

test('quick', async () => {
  console.log(JSON.stringify(await askAll('quick'), null, 1), gateway.said);
});
test('failing', async () => {
  console.log(JSON.stringify(await askAll('failing'), null, 1), gateway.said);
});
