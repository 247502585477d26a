import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { AnswerFunction } from '../../src/testing';
import { prepareClients } from '../support/client-programs';
import { openGateway } from '../support/gateway';
import { openStage } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * Unmodified agents that people use, each in a process of its own: they carry out what a model of the team asks for, two
 * calls at once and then one more, and end with its answer.
 */
jest.setTimeout(600_000);

const FOLDER = join(__dirname, 'clients');
/** Time after which an agent that hangs is ended, so that the failure names it. */
const HANGS_MS = 240_000;

const AGENTS = {
  'AI SDK, OpenAI responses': ['ai-sdk-tools.js', 'responses'],
  'AI SDK, OpenAI chat': ['ai-sdk-tools.js', 'chat'],
  'AI SDK, OpenAI compatible': ['ai-sdk-tools.js', 'compatible'],
  'AI SDK, Anthropic': ['ai-sdk-tools.js', 'anthropic'],
  'Codex CLI': ['codex-tools.js'],
  'Claude Code': ['claude-code.js'],
} as const satisfies Record<string, readonly string[]>;

/** The function of each agent that can say a word, and how it is asked to. */
const SAYING: Readonly<Record<string, (word: string) => object>> = {
  say: (word) => ({ word }),
  exec_command: (word) => ({ cmd: `echo said ${word}` }),
  shell_command: (word) => ({ command: `echo said ${word}` }),
  Bash: (word) => ({ command: `echo said ${word}`, description: 'Says a word' }),
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

const outcomeSchema = z.union([
  z.strictObject({ text: z.string(), tokens: z.number().positive() }),
  z.strictObject({ error: z.string() }),
]);
const reportSchema = z.record(z.string(), outcomeSchema);

beforeAll(() => void prepareClients());
const stage = useOnce(() =>
  openStage({ workers: ['asks'], simulation: { models: { asks: { answer: askForWords } } } }),
);
const gateway = useOnce(() => openGateway(stage));

test.each(Object.entries(AGENTS))('%s carries out two rounds of calls', async (name, [file, ...args]) => {
  const question = `Which words does the agent ${name} say?`;
  const env = {
    ...process.env,
    GATEWAY_URL: gateway.url,
    GATEWAY_KEY: await gateway.key(),
    GATEWAY_MODEL: 'worker/asks',
    GATEWAY_QUESTION: question,
  };
  const line = [join(FOLDER, file), ...args];
  const { stdout } = await stage.whileWorking(() =>
    promisify(execFile)(process.execPath, line, { env, timeout: HANGS_MS }),
  );
  const report = reportSchema.parse(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''));
  for (const [way, outcome] of Object.entries(report)) {
    expect([way, 'text' in outcome ? outcome.text : outcome.error]).toEqual([
      way,
      expect.stringContaining('They said one, said two, said three.') as string,
    ]);
    // Each turn was asked once: the agent's rounds are one solve.
    const asked = stage.requestsTo('asks').filter(({ body }) => body.includes(`${question} (${way})`));
    expect([way, asked.length]).toEqual([way, 3]);
  }
});
