import { createKey } from '../../src/gateway/access';
import { settingsOf } from '../gateway/stage';
import { fieldOf, framesOf } from '../support/frames';
import { type Stage, useStage } from '../support/stage';
import { endOf, until } from '../support/until';
import { startGatewayProcess } from './gateway-process';

// A busy machine takes long to start so many processes.
jest.setTimeout(180_000);

const stage = useStage({ workers: ['a'], simulation: { models: { a: { answer: 'Eight.' } } } });

const CHAT = { model: 'worker/a', messages: [{ role: 'user', content: 'How many legs?' }] };

type Ask = (path: string, body?: object, headers?: Readonly<Record<string, string>>) => Promise<Response>;

function askerOf({ url }: { readonly url: string }, secret: string): Ask {
  return (path, body, headers) =>
    fetch(url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
}

const solveOf = ({ headers }: Pick<Response, 'headers'>): string => headers.get('x-conductor-solve') ?? '';

/** Takes frames up to the last one that is wanted, and leaves the others in the stream. */
async function take(
  frames: AsyncIterator<string>,
  isLast: (frame: string) => boolean = () => false,
): Promise<string[]> {
  const taken: string[] = [];
  for (let next = await frames.next(); next.done !== true; next = await frames.next()) {
    taken.push(next.value);
    if (isLast(next.value)) break;
  }
  return taken;
}

const read = (response: Response): Promise<string[]> => take(framesOf(response));
const isEvent = (frame: string): boolean => frame.startsWith('event: ');

const dataOf = (frame: string | undefined): unknown => JSON.parse(fieldOf(frame ?? '', 'data'));
const containing = (text: string): string => expect.stringContaining(text) as string;

async function makeSecret({ store }: Stage): Promise<string> {
  return (await createKey(store, settingsOf())).secret;
}

/** Waits until worker a was asked for this many answers. */
async function untilAsked(count: number): Promise<void> {
  await until(
    () => stage.requestsTo('a').length,
    (asked) => asked >= count,
  );
}

/** Waits until a gateway accepts no connection any more. */
async function untilDeaf({ url }: { readonly url: string }): Promise<void> {
  await until(
    () =>
      fetch(url, { headers: { connection: 'close' } }).then(
        () => false,
        () => true,
      ),
    (isDeaf) => isDeaf,
  );
}

test('SIGTERM of a gateway: requests under way are answered, and no other is taken', async () => {
  const secret = await makeSecret(stage);
  const release = stage.providers.hold('a');
  await stage.whileWorking(async () => {
    const gateway = await startGatewayProcess(stage);
    const ask = askerOf(gateway, secret);
    const plain = ask('/v1/chat/completions', CHAT);
    const stream = await ask('/v1/chat/completions', { ...CHAT, stream: true });
    await untilAsked(2);
    const stopped = gateway.stop();
    await untilDeaf(gateway);
    release();
    const answer = await plain;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await answer.json()).toMatchObject({ choices: [{ message: { content: 'Eight.' } }] });
    expect((await read(stream)).at(-1)).toBe('data: [DONE]');
    await stopped;
    expect(await gateway.ended()).toBe(0);
  });
});

test('what a stopping gateway cannot wait for ends with a word on how to go on, and goes on at another', async () => {
  const secret = await makeSecret(stage);
  const release = stage.providers.hold('a');
  await stage.whileWorking(async () => {
    const gateway = await startGatewayProcess(stage, { drainMs: 0 });
    const ask = askerOf(gateway, secret);
    // The gateway leaves its clients, which is no reason to cancel.
    const body = { ...CHAT, conductor: { on_disconnect: 'cancel' } };
    const key = { 'idempotency-key': 'order-17' };
    const plain = ask('/v1/chat/completions', body, key);
    const chat = await ask('/v1/chat/completions', { ...body, stream: true });
    const messages = await ask('/v1/messages', { ...body, max_tokens: 100, stream: true });
    const responses = await ask('/v1/responses', {
      model: 'worker/a',
      input: 'How many legs?',
      stream: true,
    });
    await untilAsked(4);
    const events = framesOf(await ask(`/api/solves/${solveOf(chat)}/events`));
    const heard = await take(events, (frame) => fieldOf(frame, 'event') === 'stepStarted');
    await gateway.stop();
    expect((await take(events)).filter(isEvent)).toEqual([]);

    const refused = await plain;
    const remedy = (id: string): string => {
      return containing(`but solve ${id} goes on: send the request again, or read`);
    };
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    const error = { code: 'gateway_stopping', message: remedy(solveOf(refused)) };
    expect(await refused.json()).toMatchObject({ error });
    const lastOfChat = dataOf((await read(chat)).at(-1));
    expect(lastOfChat).toMatchObject({ error: { ...error, message: remedy(solveOf(chat)) } });
    const lastOfMessages = dataOf((await read(messages)).at(-1));
    expect(lastOfMessages).toMatchObject({
      type: 'error',
      error: { type: 'overloaded_error', message: remedy(solveOf(messages)) },
    });
    const told = (await read(responses)).filter(isEvent);
    const last = dataOf(told.at(-1)) as { readonly sequence_number: number };
    const from = `starting_after=${last.sequence_number}`;
    expect(last).toMatchObject({ type: 'error', message: containing(`resume with ${from}`) });

    const next = await startGatewayProcess(stage);
    const askNext = askerOf(next, secret);
    const repeated = askNext('/v1/chat/completions', body, key);
    const path = `/v1/responses/resp_${solveOf(responses)}?stream=true&${from}`;
    const resumed = read(await askNext(path));
    const cursor = fieldOf(heard.at(-1) ?? '', 'id');
    const rest = read(
      await askNext(`/api/solves/${solveOf(chat)}/events`, undefined, { 'last-event-id': cursor }),
    );
    release();
    expect(solveOf(await repeated)).toBe(solveOf(refused));
    expect(await (await repeated).json()).toMatchObject({ choices: [{ message: { content: 'Eight.' } }] });
    const numbers = [...told.slice(0, -1), ...(await resumed).filter(isEvent)]
      .map((frame) => dataOf(frame) as { readonly sequence_number: number })
      .map(({ sequence_number }) => sequence_number);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    const kinds = (await rest).map((frame) => fieldOf(frame, 'event')).filter((kind) => kind !== '');
    // The text may come in several pieces.
    const once = kinds.filter((kind, index) => kind !== 'text' || kinds[index - 1] !== 'text');
    expect(once).toEqual(['text', 'stepEnded', 'ended']);
    for (const response of [chat, messages]) {
      expect(await endOf(stage, solveOf(response))).toMatchObject({ status: 'completed', answer: 'Eight.' });
    }
    await next.stop();
  });
  expect(stage.requestsTo('a')).toHaveLength(4);
});
