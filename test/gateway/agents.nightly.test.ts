import { readAudit } from '../../src/gateway/access';
import { dateOf } from '../../src/store/costs';
import type { AnswerFunction } from '../../src/testing';
import { type ClientProgram, prepareClients, runClient } from '../support/client-programs';
import { openGateway } from '../support/gateway';
import { openStage, step } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * Unmodified clients that people use, each in a process of its own: they carry out what a model of the team asks for, two
 * calls at once and then one more, and end with its answer.
 */
jest.setTimeout(600_000);

const CLIENTS = {
  'openai for JavaScript': ['openai-sdk.js', 'tools'],
  'openai for Python': ['openai_sdk.py', 'tools'],
  'anthropic for JavaScript': ['anthropic-sdk.js', 'tools'],
  'anthropic for Python': ['anthropic_sdk.py'],
  'OpenAI Agents': ['openai-agents.js'],
  'LangChain for JavaScript': ['langchain.js', 'tools'],
  'AI SDK': ['ai-sdk.js', 'tools'],
  'Codex CLI': ['codex.js'],
  'Claude Code': ['claude-code.js'],
  OpenCode: ['opencode.js'],
} as const satisfies Record<string, ClientProgram>;

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

/** Has a client ask, with a key of its own. Returns its outcomes, and how many solves it began. */
async function ask(name: string, program: ClientProgram, model: string) {
  const keyName = `${name}, ${model}`;
  const key = await gateway.key({ name: keyName });
  const since = today();
  const question = `Which words does ${name} say to ${model}?`;
  const found = await stage.whileWorking(() =>
    runClient(program, { stage, gateway, key, model, question, worker: 'asks' }),
  );
  let solves = 0;
  for await (const entry of readAudit(stage.store, { since, until: today() })) {
    if (entry.action === 'start' && entry.keyName === keyName) solves += 1;
  }
  return { found, solves };
}

const today = (): string => dateOf(Date.now());

const ANSWERED = {
  text: expect.stringContaining('They said one, said two, said three.') as string,
  tokens: expect.any(Number) as number,
};

/** OpenCode is installed for one platform alone. */
const isInstalled = ([name]: readonly [string, ClientProgram]): boolean =>
  name !== 'OpenCode' || (process.platform === 'linux' && process.arch === 'x64');

test.each(Object.entries(CLIENTS).filter(isInstalled))(
  '%s carries out two rounds of calls in one solve',
  async (name, program) => {
    const { found, solves } = await ask(name, program, 'worker/asks');
    const ways = Object.keys(found);
    // Each turn is paid once.
    const expected = ways.map((way) => [way, { ...ANSWERED, asked: 3 }] as const);
    expect(found).toEqual(Object.fromEntries(expected));
    expect(solves).toBe(ways.length);
  },
);

test.each(['Codex CLI', 'Claude Code'] as const)('%s carries out the calls of a team', async (name) => {
  stage.plan([step('asks', 'Hear words.'), step('asks', 'Hear them again.', [0])]);
  const { found, solves } = await ask(name, CLIENTS[name], 'conductor');
  expect(found).toEqual({ streamed: { ...ANSWERED, asked: 6 } });
  expect(solves).toBe(1);
});
