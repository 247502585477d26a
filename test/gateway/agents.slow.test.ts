import { readAudit } from '../../src/gateway/access';
import { dateOf } from '../../src/store/costs';
import type { AnswerFunction } from '../../src/testing';
import { prepareClients, runClient } from '../support/client-programs';
import { openGateway } from '../support/gateway';
import { openStage } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * Unmodified clients that people use, each in a process of its own: they carry out what a model of the team asks for, two
 * calls at once and then one more, and end with its answer.
 */
jest.setTimeout(600_000);

const CLIENTS = {
  'openai for JavaScript, chat': ['openai-sdk.js', 'chatTools'],
  'openai for JavaScript, responses': ['openai-sdk.js', 'responsesTools'],
  'openai for Python, chat': ['openai_sdk.py', 'chat_tools'],
  'openai for Python, responses': ['openai_sdk.py', 'responses_tools'],
  'anthropic for JavaScript': ['anthropic-sdk.js', 'tools'],
  'anthropic for Python': ['anthropic_sdk.py'],
  'OpenAI Agents, chat': ['openai-agents.js', 'chat'],
  'OpenAI Agents, responses': ['openai-agents.js', 'responses'],
  'LangChain for JavaScript': ['langchain.js', 'tools'],
  'AI SDK, OpenAI responses': ['ai-sdk.js', 'responses', 'tools'],
  'AI SDK, OpenAI chat': ['ai-sdk.js', 'chat', 'tools'],
  'AI SDK, OpenAI compatible': ['ai-sdk.js', 'compatible', 'tools'],
  'AI SDK, Anthropic': ['ai-sdk.js', 'anthropic', 'tools'],
  'Codex CLI': ['codex.js'],
  'Claude Code': ['claude-code.js'],
  OpenCode: ['opencode.js'],
} as const satisfies Record<string, readonly [string, ...string[]]>;

/** Clients that ask in a stream alone; all others ask for a whole answer too. */
const STREAMS_ALONE: readonly string[] = ['Codex CLI', 'Claude Code', 'OpenCode'];

/** The function of each client that can say a word, and how it is asked to. */
const SAYING: Readonly<Record<string, (word: string) => object>> = {
  say: (word) => ({ word }),
  exec_command: (word) => ({ cmd: `echo said ${word}` }),
  shell_command: (word) => ({ command: `echo said ${word}` }),
  Bash: (word) => ({ command: `echo said ${word}`, description: 'Says a word' }),
  bash: (word) => ({ command: `echo said ${word}`, description: 'Says a word' }),
};

const ROUNDS: Readonly<Record<number, readonly string[]>> = { 0: ['one', 'two'], 2: ['three'] };

/** Asks for two words, then for a third, and answers with what was said. */
const askForWords: AnswerFunction = ({ tools = [], exchanged = [] }) => {
  const said = exchanged.flatMap((part) => (part.kind === 'result' ? [part.text] : []));
  const name = tools.find((each) => Object.hasOwn(SAYING, each)) ?? '';
  const calls = (ROUNDS[said.length] ?? []).map((word) => ({ name, input: SAYING[name]?.(word) ?? {} }));
  if (calls.length > 0) return { text: 'I shall see.', calls };
  return `They ${said.flatMap((text) => /said \w+/.exec(text) ?? ['failed']).join(', ')}.`;
};

beforeAll(() => void prepareClients());
const stage = useOnce(() =>
  openStage({ workers: ['asks'], simulation: { models: { asks: { answer: askForWords } } } }),
);
const gateway = useOnce(() => openGateway(stage));

/** Returns how many solves the key of this name has started since a UTC date. */
async function solvesOf(name: string, since: string): Promise<number> {
  let solves = 0;
  for await (const { action, keyName } of readAudit(stage.store, { since, until: today() })) {
    if (action === 'start' && keyName === name) solves += 1;
  }
  return solves;
}

const today = (): string => dateOf(Date.now());

test.each(Object.entries(CLIENTS))('%s carries out two rounds of calls', async (name, command) => {
  const since = today();
  const question = `Which words does ${name} say?`;
  const key = await gateway.key({ name });
  const report = await stage.whileWorking(() =>
    runClient(command, { gateway, key, model: 'worker/asks', question }),
  );
  const ways = STREAMS_ALONE.includes(name) ? ['streamed'] : ['whole', 'streamed'];
  const text = expect.stringContaining('They said one, said two, said three.') as string;
  const answered = { text, tokens: expect.any(Number) as number };
  expect(report).toEqual(Object.fromEntries(ways.map((way) => [way, answered])));
  // The rounds are one solve, which asks its model once for each turn.
  expect(await solvesOf(name, since)).toBe(ways.length);
  const turns = ways.map((way) => {
    const asked = stage.requestsTo('asks').filter(({ body }) => body.includes(`${question} (${way})`));
    return [way, asked.length];
  });
  expect(turns).toEqual(ways.map((way) => [way, 3]));
});
