import type { AnswerFunction } from '../../src/testing';
import { prepareClients, runClient } from '../support/client-programs';
import { openGateway } from '../support/gateway';
import { openStage } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * Unmodified clients that people use, all at once, each in a process of its own. Each asks for a whole answer and for a
 * streamed one, and is given only an address, a key and a model.
 */
jest.setTimeout(600_000);

/** Slightly less than the minute after which a proxy gives up. */
const SLOW_MS = 50_000;

const ANSWER = 'A spider has eight legs: four on each side, “always” – 蜘蛛 🕷.';
const REFUSED = 'This model answers no question on spiders.';
const answerAsAsked: AnswerFunction = ({ text }) => {
  return text.includes('"answer"') ? JSON.stringify({ answer: ANSWER }) : ANSWER;
};

/** Programs in `clients`, by the client that they are. */
type Clients = Readonly<Record<string, readonly [string, ...string[]]>>;

const CLIENTS = {
  'openai for JavaScript, chat': ['openai-sdk.js', 'chat'],
  'openai for JavaScript, responses': ['openai-sdk.js', 'responses'],
  'openai for Python, chat': ['openai_sdk.py', 'chat'],
  'openai for Python, responses': ['openai_sdk.py', 'responses'],
  'anthropic for JavaScript': ['anthropic-sdk.js', 'messages'],
  'AI SDK, OpenAI responses': ['ai-sdk.js', 'responses', 'text'],
  'AI SDK, OpenAI chat': ['ai-sdk.js', 'chat', 'text'],
  'AI SDK, OpenAI compatible': ['ai-sdk.js', 'compatible', 'text'],
  'AI SDK, Anthropic': ['ai-sdk.js', 'anthropic', 'text'],
  'LangChain for JavaScript': ['langchain.js', 'text'],
  'LangChain for Python, OpenAI': ['langchain_sdk.py', 'openai', 'text'],
  'LangChain for Python, Anthropic': ['langchain_sdk.py', 'anthropic', 'text'],
  llm: ['llm_cli.py'],
  'Codex CLI': ['codex.js'],
} as const satisfies Clients;

/** Further ways to ask: in the background, after a lost connection, and for an object, by a format or by a tool. */
const MORE = {
  'openai for JavaScript, more': ['openai-sdk.js', 'more'],
  'openai for Python, more': ['openai_sdk.py', 'more'],
  'anthropic for JavaScript, more': ['anthropic-sdk.js', 'more'],
  'AI SDK, Anthropic, more': ['ai-sdk.js', 'anthropic', 'object'],
  'LangChain for Python, OpenAI, more': ['langchain_sdk.py', 'openai', 'object'],
  'LangChain for Python, Anthropic, more': ['langchain_sdk.py', 'anthropic', 'object'],
} as const satisfies Clients;

const WAYS: Readonly<Record<string, readonly string[]>> = {
  'openai for JavaScript, more': ['background', 'retried', 'parsedChat', 'parsedResponse'],
  'openai for Python, more': ['background', 'retried', 'parsedChat', 'parsedResponse'],
  'anthropic for JavaScript, more': ['parsed', 'parsedStream'],
  'AI SDK, Anthropic, more': ['byTool', 'byFormat', 'objectStreamed'],
  'LangChain for Python, OpenAI, more': ['byTool', 'byFormat'],
  'LangChain for Python, Anthropic, more': ['byTool', 'byFormat'],
  'Codex CLI': ['streamed'],
};

/**
 * Requests of clients that ignore `x-should-retry`. The AI SDK asks three times for a whole answer, and for a stream of
 * chat completions that begins with an error. LangChain for JavaScript repeats a whole answer as often as it is set to
 * (by default six times, here once). Codex repeats a stream five times.
 */
const ASKED_OF_FAILING: Readonly<Record<string, number>> = {
  'AI SDK, OpenAI responses': 4,
  'AI SDK, OpenAI chat': 6,
  'AI SDK, OpenAI compatible': 4,
  'AI SDK, Anthropic': 4,
  'LangChain for JavaScript': 3,
  'Codex CLI': 6,
};

beforeAll(() => void prepareClients());
const stage = useOnce(() =>
  openStage({
    workers: ['quick', 'slow', 'failing'],
    simulation: {
      models: {
        quick: { answer: answerAsAsked },
        slow: { answer: ANSWER, delayMs: SLOW_MS },
        failing: { answer: { fault: 'bad-request', message: REFUSED } },
      },
    },
  }),
);
const gateway = useOnce(() => openGateway(stage));

/** Returns the report of each client, and the number of requests that it caused to the model. */
async function runAll(clients: Clients, worker: string) {
  const model = `worker/${worker}`;
  const runOne = async (name: string, command: Clients[string]) => {
    const question = `How many legs has the spider of ${name}?`;
    const key = await gateway.key();
    const report = await runClient(command, { gateway, key, model, question });
    const asked = stage.requestsTo(worker).filter(({ body }) => body.includes(question)).length;
    return [name, { report, asked }] as const;
  };
  const running = () => Object.entries(clients).map(([name, command]) => runOne(name, command));
  return stage.whileWorking(async () => Object.fromEntries(await Promise.all(running())));
}

const ways = (name: string): readonly string[] => WAYS[name] ?? ['whole', 'streamed'];

/** Returns the expectation that each way of each client has this outcome. */
function each(clients: object, outcome: unknown, askedOf: Readonly<Record<string, number>> = {}) {
  const expected = Object.keys(clients).map((name) => {
    const report = Object.fromEntries(ways(name).map((way) => [way, outcome]));
    return [name, { report, asked: askedOf[name] ?? ways(name).length }];
  });
  return Object.fromEntries(expected) as object;
}

const ANSWERED = { text: ANSWER, tokens: expect.any(Number) as number };

test('every client gets a quick answer, whole and streamed, and each request is paid once', async () => {
  const clients = { ...CLIENTS, ...MORE };
  expect(await runAll(clients, 'quick')).toEqual(each(clients, ANSWERED));
  expect(gateway.said).toEqual([]);
});

test('every client waits for a slow answer, and each request is paid once', async () => {
  expect(await runAll(CLIENTS, 'slow')).toEqual(each(CLIENTS, ANSWERED));
  expect(gateway.said).toEqual([]);
});

test('a failure is reported in the gateway’s sentence, and asked for once by clients that heed x-should-retry', async () => {
  const sentence = new RegExp(`solve gw-\\S+ gave no answer: .*${REFUSED}`);
  const failed = { error: expect.stringMatching(sentence) as string };
  expect(await runAll(CLIENTS, 'failing')).toEqual(each(CLIENTS, failed, ASKED_OF_FAILING));
  expect(gateway.said).toEqual([]);
});
