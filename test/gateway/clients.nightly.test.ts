import type { AnswerFunction, Simulation } from '../../src/testing';
import {
  type ClientOutcome,
  type ClientProgram,
  prepareClients,
  runClient,
} from '../support/client-programs';
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

const CLIENTS = {
  'openai for JavaScript': ['openai-sdk.js', 'text'],
  'openai for Python': ['openai_sdk.py', 'text'],
  'anthropic for JavaScript': ['anthropic-sdk.js', 'text'],
  'AI SDK': ['ai-sdk.js', 'text'],
  'LangChain for JavaScript': ['langchain.js', 'text'],
  'LangChain for Python': ['langchain_sdk.py', 'text'],
  llm: ['llm_cli.py'],
  'Codex CLI': ['codex.js'],
} as const satisfies Record<string, ClientProgram>;

/** Further ways to ask: in the background, after a lost connection, and for an object, by a format or by a tool. */
const MORE = {
  'openai for JavaScript, more': ['openai-sdk.js', 'more'],
  'openai for Python, more': ['openai_sdk.py', 'more'],
  'anthropic for JavaScript, more': ['anthropic-sdk.js', 'more'],
  'AI SDK, more': ['ai-sdk.js', 'object'],
  'LangChain for Python, more': ['langchain_sdk.py', 'object'],
} as const satisfies Record<string, ClientProgram>;

const MODELS = {
  quick: { answer: answerAsAsked },
  slow: { answer: ANSWER, delayMs: SLOW_MS },
  failing: { answer: { fault: 'bad-request', message: REFUSED } },
} as const satisfies Simulation['models'];

beforeAll(() => void prepareClients());
const stage = useOnce(() =>
  openStage({
    workers: Object.keys(MODELS),
    simulation: { models: MODELS },
    // A slow call must not be taken for lost: it would be paid again.
    config: { temporal: { heartbeat: '1m' } },
  }),
);
const gateway = useOnce(() => openGateway(stage));

type Outcomes = Readonly<Record<string, Readonly<Record<string, ClientOutcome>>>>;

/** Returns the outcome of each way of each client. */
async function runAll(
  clients: Readonly<Record<string, ClientProgram>>,
  worker: keyof typeof MODELS,
): Promise<Outcomes> {
  const model = `worker/${worker}`;
  const runOne = async ([name, program]: readonly [string, ClientProgram]) => {
    const key = await gateway.key();
    const question = `How many legs has the spider of ${name}?`;
    return [name, await runClient(program, { stage, gateway, key, model, question, worker })] as const;
  };
  const runningAll = () => Promise.all(Object.entries(clients).map(runOne));
  return Object.fromEntries(await stage.whileWorking(runningAll));
}

/** Returns the expectation that each way of each client had this outcome. */
function each(found: Outcomes, outcome: object): object {
  const expected = Object.entries(found).map(([name, ways]) => {
    const outcomes = Object.keys(ways).map((way) => [way, { ...outcome, asked: 1 }] as const);
    return [name, Object.fromEntries(outcomes)] as const;
  });
  return Object.fromEntries(expected);
}

const ANSWERED = { text: ANSWER, tokens: expect.any(Number) as number };

test('every client gets a quick answer, whole and streamed, and each request is paid once', async () => {
  const found = await runAll({ ...CLIENTS, ...MORE }, 'quick');
  expect(found).toEqual(each(found, ANSWERED));
  expect(gateway.said).toEqual([]);
});

test('every client waits for a slow answer, and each request is paid once', async () => {
  const found = await runAll(CLIENTS, 'slow');
  expect(found).toEqual(each(found, ANSWERED));
  expect(gateway.said).toEqual([]);
});

test('a failure is reported in the gateway’s sentence, and paid once, also by clients that ask for it again', async () => {
  const sentence = new RegExp(`solve gw-\\S+ gave no answer: .*${REFUSED}`);
  const failed = { error: expect.stringMatching(sentence) as string };
  const found = await runAll(CLIENTS, 'failing');
  expect(found).toEqual(each(found, failed));
  expect(gateway.said).toEqual([]);
});
