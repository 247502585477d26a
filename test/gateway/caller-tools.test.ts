import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { Reply, SimulatedRequest } from '../../src/testing';
import { openGateway } from '../support/gateway';
import { openStage, step } from '../support/stage';
import { useOnce } from '../support/use';

/*
 * A client brings its own functions: a model of the team asks for one, the answer ends with the call, and the next
 * request brings the result to the same solve.
 */
const CALL = { name: 'read_file', input: { path: 'a.txt' } };
const calling = (...calls: Reply['calls'] & object): Reply => ({ text: 'Let me read it.', calls });

/** What the worker answers before it has a result; its answer then repeats the last results. */
let first: Reply = calling(CALL);
const resultsIn = ({ exchanged = [] }: SimulatedRequest): string[] =>
  exchanged.flatMap(({ kind, text }) => (kind === 'result' ? [text] : []));
const stage = useOnce(() =>
  openStage({
    workers: ['a'],
    simulation: {
      fallback: { price: { input: 2, output: 10 } },
      models: {
        a: {
          answer: (request) =>
            resultsIn(request).length === 0 ? first : `It says ${resultsIn(request).join(' and ')}.`,
        },
      },
    },
  }),
);
const gateway = useOnce(() => openGateway(stage));
beforeEach(() => {
  first = calling(CALL);
});

const QUESTION = { role: 'user' as const, content: 'What does a.txt say?' };
const PARAMETERS = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const named = (name: string) => ({
  type: 'function' as const,
  function: { name, description: 'Reads a file.', parameters: PARAMETERS },
});
const ASKED = { model: 'worker/a', messages: [QUESTION], tools: [named('read_file')] };
const openAi = (): OpenAI =>
  new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 });

/** Returns the conversation with an answer's calls, and with what the client's functions returned. */
function withResults(
  message: OpenAI.ChatCompletionMessage | undefined,
  ...outputs: readonly string[]
): ChatCompletionMessageParam[] {
  if (message?.tool_calls === undefined) throw new Error('there is no call');
  const results = message.tool_calls.map(({ id }, index) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: outputs[index] ?? '',
  }));
  return [QUESTION, message, ...results];
}

describe('chat', () => {
  test('an answer ends with a call, and the next request with its result goes on in the same solve', async () => {
    const openai = openAi();
    await stage.whileWorking(async () => {
      const asking = await openai.chat.completions.create(ASKED).withResponse();
      const [choice] = asking.data.choices;
      expect(choice).toMatchObject({
        finish_reason: 'tool_calls',
        message: {
          content: 'Let me read it.',
          tool_calls: [{ type: 'function', function: { name: 'read_file', arguments: '{"path":"a.txt"}' } }],
        },
      });
      const messages = withResults(choice?.message, 'hello');
      const going = await openai.chat.completions.create({ ...ASKED, messages }).withResponse();
      expect(going.data.choices).toMatchObject([
        { finish_reason: 'stop', message: { content: 'It says hello.' } },
      ]);
      const solveOf = ({ response }: { response: Response }) => response.headers.get('x-conductor-solve');
      expect(solveOf(going)).toBe(solveOf(asking));
      expect(going.data.id).not.toBe(asking.data.id);
      // Each answer states what was spent since the one before.
      const { usage, costUsd } = await stage.client.trace(solveOf(going) ?? '');
      const spent = [asking, going].map(
        ({ data }) => data.usage as OpenAI.CompletionUsage & { cost: number },
      );
      const sum = (amountOf: (one: (typeof spent)[number]) => number): number =>
        spent.reduce((all, one) => all + amountOf(one), 0);
      expect(spent.every(({ prompt_tokens: tokens }) => tokens > 0)).toBe(true);
      expect(sum((one) => one.prompt_tokens)).toBe(usage.inputTokens);
      expect(sum((one) => Math.round(one.cost * 1e9))).toBe(Math.round(costUsd * 1e9));
    });
  });

  test('streams bring the same, and the same request again gets the same answer', async () => {
    first = calling(CALL, { name: 'read_file', input: { path: 'b.txt' } });
    const openai = openAi();
    await stage.whileWorking(async () => {
      const asking = await openai.chat.completions.stream(ASKED).finalChatCompletion();
      const message = asking.choices[0]?.message;
      expect(asking.choices[0]?.finish_reason).toBe('tool_calls');
      expect(message?.content).toBe('Let me read it.');
      expect(message?.tool_calls).toMatchObject([
        { function: { arguments: '{"path":"a.txt"}' } },
        { function: { arguments: '{"path":"b.txt"}' } },
      ]);
      const messages = withResults(message, 'hello', 'bye');
      for (let times = 0; times < 2; times += 1) {
        const going = await openai.chat.completions.stream({ ...ASKED, messages }).finalChatCompletion();
        expect(going.choices[0]?.message.content).toBe('It says hello and bye.');
      }
    });
  });
});
