import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { createKey } from '../../src/gateway/access/keys';
import { openStore } from '../../src/store/open-store';
import { settingsOf } from '../gateway/stage';
import { HAS_POSTGRES, PostgresServer } from '../support/postgres-server';
import { openStage } from '../support/stage';
import { useOnce } from '../support/use';
import { startGatewayProcess } from './gateway-process';

jest.setTimeout(180_000);

/** Two gateways, each a process of its own, which share nothing but the server and one store in PostgreSQL. */
(HAS_POSTGRES ? describe : describe.skip)('two gateways over one PostgreSQL', () => {
  const postgres = useOnce(() => PostgresServer.start());
  const stage = useOnce(async () => {
    const store = openStore(postgres.url(), postgres.folder);
    await store.migrate?.();
    const call = { name: 'read_file', input: { path: 'a.txt' } };
    return openStage({
      workers: ['a'],
      store,
      simulation: {
        models: {
          a: {
            answer: ({ exchanged = [] }) => {
              const results = exchanged.filter(({ kind }) => kind === 'result');
              if (results.length === 0) return { text: '', calls: [call, call] };
              return `They say ${results.map(({ text }) => text).join(' and ')}.`;
            },
          },
        },
      },
    });
  });

  const start = () => startGatewayProcess(stage, { store: postgres.url() });

  const QUESTION = { role: 'user' as const, content: 'What do the files say?' };
  const ASKED = {
    model: 'worker/a',
    tools: [{ type: 'function' as const, function: { name: 'read_file', parameters: { type: 'object' } } }],
  };

  test.each([
    ['while the first one serves', false],
    ['once the first one is killed', true],
  ])('what was asked at one goes on with its results at the other, %s', async (_, isKilled) => {
    const { secret } = await createKey(stage.store, settingsOf({ name: `killed-${isKilled}` }));
    const [first, second] = await Promise.all([start(), start()]);
    const askAt = ({ url }: { readonly url: string }, messages: ChatCompletionMessageParam[]) =>
      new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 }).chat.completions
        .create({ ...ASKED, messages })
        .withResponse();
    const before = stage.requestsTo('a').length;
    await stage.whileWorking(async () => {
      const asking = await askAt(first, [QUESTION]);
      const message = asking.data.choices[0]?.message;
      if (message?.tool_calls === undefined) throw new Error('there is no call');
      if (isKilled) await first.kill();
      const results = message.tool_calls.map(({ id }, index) => ({
        role: 'tool' as const,
        tool_call_id: id,
        content: ['hello', 'bye'][index] ?? '',
      }));
      const messages = [QUESTION, message, ...results];
      const going = await askAt(second, messages);
      expect(going.data.choices[0]?.message.content).toBe('They say hello and bye.');
      const solveOf = ({ response }: { readonly response: Response }) =>
        response.headers.get('x-conductor-solve');
      expect(solveOf(going)).toBe(solveOf(asking));
      if (!isKilled) {
        const again = await askAt(first, messages);
        expect([solveOf(again), again.data.id]).toEqual([solveOf(asking), going.data.id]);
      }
    });
    // Each turn was paid for once.
    expect(stage.requestsTo('a')).toHaveLength(before + 2);
    await Promise.all([first.kill(), second.kill()]);
  });
});
