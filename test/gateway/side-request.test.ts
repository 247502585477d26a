import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { openGateway } from '../support/gateway';
import { openStage, step } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * Coding agents have titles written beside what their users ask. With `gateway.side`, one worker writes them; whatever is
 * only like such a request has a plan.
 */
const TITLE = '{"title":"Legs of a spider"}';
const stage = useOnce(() =>
  openStage({
    workers: ['a', 'cheap'],
    config: { gateway: { side: 'cheap' } },
    simulation: { models: { a: { answer: TITLE }, cheap: { answer: TITLE } } },
  }),
);
const gateway = useOnce(() => openGateway(stage));

/** The beginnings of the prompts with which Claude Code 2.1.197 and OpenCode 1.18.33 ask. */
const CLAUDE_SYSTEM = [
  { type: 'text' as const, text: "You are a Claude agent, built on Anthropic's Claude Agent SDK." },
  {
    type: 'text' as const,
    text: 'Generate a concise, sentence-case title (3-7 words) that captures the main topic or goal of this coding session.',
  },
];
const SESSION =
  '<session>\nHow many legs has a spider?\n</session>\n\nWrite the title in the language the user wrote in.';
const titled = (properties: object) => ({
  type: 'json_schema' as const,
  schema: { type: 'object', properties, required: ['title'], additionalProperties: false },
});
const FORMAT = titled({ title: { type: 'string' } });
const CLAUDE = {
  model: 'conductor',
  max_tokens: 32000,
  system: CLAUDE_SYSTEM,
  messages: [{ role: 'user' as const, content: [{ type: 'text' as const, text: SESSION }] }],
  tools: [],
  output_config: { effort: 'high' as const, format: FORMAT },
};
const OPENCODE = {
  model: 'conductor',
  max_tokens: 32000,
  messages: [
    {
      role: 'system' as const,
      content: 'You are a title generator. You output ONLY a thread title. Nothing else.',
    },
    { role: 'user' as const, content: 'Generate a title for this conversation:\n' },
    { role: 'user' as const, content: '"How many legs has a spider?"' },
  ],
};
const CLAUDE_AGENT = 'claude-cli/2.1.197 (external, sdk-cli)';
const OPENCODE_AGENT = 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14';

const askClaude = (changes: object, agent: string = CLAUDE_AGENT) =>
  new Anthropic({ baseURL: gateway.url, apiKey: gateway.secret, maxRetries: 0 }).messages
    .stream({ ...CLAUDE, ...changes }, { headers: { 'user-agent': agent } })
    .finalMessage();
const askOpenCode = (changes: object, agent: string = OPENCODE_AGENT) =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 }).chat.completions.create(
    { ...OPENCODE, ...changes },
    { headers: { 'user-agent': agent } },
  );

/** Returns how many requests the Conductor, worker a and the cheap worker got while something was asked. */
async function requestsWhile(ask: () => Promise<unknown>): Promise<number[]> {
  const count = (): number[] => ['conductor', 'a', 'cheap'].map((model) => stage.requestsTo(model).length);
  stage.plan([step('a', 'Answer.')]);
  const before = count();
  await stage.whileWorking(ask);
  return count().map((after, index) => after - (before[index] ?? 0));
}

const BY_ONE = [0, 0, 1];
const BY_PLAN = [1, 1, 0];

test('the title of a session is written by the one worker, under the name of the model that was asked', async () => {
  const asked = await requestsWhile(async () => {
    expect(await askClaude({})).toMatchObject({ model: 'conductor', content: [{ text: TITLE }] });
  });
  expect(asked).toEqual(BY_ONE);
  expect(await requestsWhile(() => askOpenCode({}))).toEqual(BY_ONE);
});

const tool = { name: 'read', input_schema: { type: 'object' as const } };
const user = (content: string) => [{ role: 'user' as const, content }];
test.each<[string, () => Promise<unknown>]>([
  ['of another client', () => askClaude({}, 'Anthropic/JS 1.14.0')],
  ['with functions', () => askClaude({ tools: [tool] })],
  ['without a schema', () => askClaude({ output_config: {} })],
  [
    'with more to answer than a title',
    () =>
      askClaude({
        output_config: { format: titled({ title: { type: 'string' }, text: { type: 'string' } }) },
      }),
  ],
  ['of a short question', () => askClaude({ messages: user('Which title?') })],
  ['that speaks of a session', () => askClaude({ messages: user(`What does ${SESSION} mean?`) })],
  [
    'after an answer',
    () =>
      askClaude({
        messages: [...user(SESSION), { role: 'assistant', content: TITLE }, ...user('Another one.')],
      }),
  ],
  ['with fields of the gateway', () => askClaude({ conductor: { max_steps: 3 } })],
])('a request like one for a title, but %s, has a plan', async (_, ask) => {
  expect(await requestsWhile(ask)).toEqual(BY_PLAN);
});

test.each<[string, () => Promise<unknown>]>([
  ['of another client', () => askOpenCode({}, 'OpenAI/JS 6.49.0')],
  ['of its words alone', () => askOpenCode({ messages: OPENCODE.messages.slice(1) })],
  [
    'of an agent of other instructions',
    () =>
      askOpenCode({ messages: [{ role: 'system', content: 'Be brief.' }, ...OPENCODE.messages.slice(1)] }),
  ],
  [
    'of a question to an agent for titles',
    () =>
      askOpenCode({ messages: [...OPENCODE.messages.slice(0, 1), ...user('How many legs has a spider?')] }),
  ],
  ['of a form', () => askOpenCode({ response_format: { type: 'json_object' } })],
])('a request like one of OpenCode for a title, but %s, has a plan', async (_, ask) => {
  expect(await requestsWhile(ask)).toEqual(BY_PLAN);
});

test('a checkpoint or a worker that is asked for by name answers itself', async () => {
  expect(await requestsWhile(() => askClaude({ model: 'worker/a' }))).toEqual([0, 1, 0]);
});
