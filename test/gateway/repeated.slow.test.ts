import { once } from 'node:events';
import { connect } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import {
  ASKED_RUNS,
  type AskedNote,
  type AskedRun,
  askedRunAt,
  readAskedRuns,
} from '../../src/store/asked-runs';
import { openGateway, type TestGateway, useGateway } from '../support/gateway';
import { useStage } from '../support/stage';
import { until } from '../support/until';

/*
 * A client whose answer broke off asks once more, often without a stream and without a word about the first time. It
 * gets the solve that it asked for, and no other request does.
 */
const stage = useStage({ workers: ['a'], simulation: { models: { a: { answer: 'Eight.' } } } });
const gateway = useGateway(stage);

const QUESTION = { role: 'user' as const, content: 'How many legs?' };

interface Client {
  /** Asks for a stream, and leaves after its first event. */
  readonly cut: (at: TestGateway, content?: string) => Promise<void>;
  /** Asks for a whole answer, and returns its text. */
  readonly ask: (at: TestGateway, content?: string) => Promise<string>;
}

const openAi = ({ url, secret }: TestGateway): OpenAI =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0 });
const anthropic = ({ url, secret }: TestGateway): Anthropic =>
  new Anthropic({ baseURL: url, apiKey: secret, maxRetries: 0 });

/** Takes the first event of a stream, and closes the connection. */
async function leaveAfterFirst(stream: AsyncIterable<unknown>): Promise<void> {
  const events = stream[Symbol.asyncIterator]();
  await events.next();
  await events.return?.();
}

async function readToEnd(stream: AsyncIterable<unknown>): Promise<void> {
  const events = stream[Symbol.asyncIterator]();
  while ((await events.next()).done !== true) continue;
}

const asked = (content = QUESTION.content) => ({ model: 'worker/a', messages: [{ ...QUESTION, content }] });
const CHAT: Client = {
  cut: async (at, content) =>
    leaveAfterFirst(await openAi(at).chat.completions.create({ ...asked(content), stream: true })),
  ask: async (at, content) =>
    (await openAi(at).chat.completions.create(asked(content))).choices[0]?.message.content ?? '',
};
const CLIENTS: Readonly<Record<string, Client>> = {
  'openai, chat': CHAT,
  'openai, responses': {
    cut: async (at, input = QUESTION.content) =>
      leaveAfterFirst(await openAi(at).responses.create({ model: 'worker/a', input, stream: true })),
    ask: async (at, input = QUESTION.content) =>
      (await openAi(at).responses.create({ input, model: 'worker/a' })).output_text,
  },
  anthropic: {
    cut: async (at, content) =>
      leaveAfterFirst(
        await anthropic(at).messages.create({ max_tokens: 100, ...asked(content), stream: true }),
      ),
    ask: async (at, content) => {
      const { content: blocks } = await anthropic(at).messages.create({ ...asked(content), max_tokens: 100 });
      return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
  },
};
const EACH = Object.entries(CLIENTS);

/** Returns the ids of all solves that a key has started, once Temporal lists this many. */
async function solvesOf({ secret }: TestGateway, least: number): Promise<string[]> {
  const [, , keyId = ''] = secret.split('-');
  const look = async (): Promise<string[]> => {
    const { runs } = await stage.client.list({ prefix: `gw-${keyId}-`, ended: 10 });
    return runs.map(({ id }) => id);
  };
  return until(look, ({ length }) => length >= least);
}

/** Works on what is asked, with the answers of the model held back until `release`. */
function whileHeld(work: (release: () => void) => Promise<void>): Promise<void> {
  const release = stage.providers.hold('a');
  return stage.whileWorking(async () => {
    await work(release);
    release();
  });
}

/** Returns the runs that requests asked for whose answers ended so, with the times of their notes. */
async function endedNotes(state: AskedNote['state']): Promise<AskedRun[]> {
  const digests = new Set((await stage.store.list(ASKED_RUNS)).map((key) => key.split('/')[2] ?? ''));
  const runs = await Promise.all([...digests].map((digest) => readAskedRuns(stage.store, digest)));
  return runs.flat().filter(({ note }) => note.state === state);
}

/** Waits until so many answers are noted to have ended so: a gateway notes it a moment after its client has left. */
function untilNoted(state: AskedNote['state'], count: number): Promise<AskedRun[]> {
  return until(
    () => endedNotes(state),
    ({ length }) => length === count,
  );
}

const paid = (): number => stage.requestsTo('a').length;

describe.each(EACH)('%s', (_, { cut, ask }) => {
  test('a request that is repeated after a cut, without a stream and with its fields in another order, is paid once', async () => {
    await whileHeld(async (release) => {
      await cut(gateway);
      await untilNoted('cut', 1);
      const repeated = ask(gateway);
      release();
      expect(await repeated).toBe('Eight.');
    });
    expect(paid()).toBe(1);
  });

  test('of an answer that was sent whole, the next request is a new solve, and so is another question', async () => {
    await stage.whileWorking(async () => {
      expect(await ask(gateway)).toBe('Eight.');
      expect(await ask(gateway)).toBe('Eight.');
      expect(paid()).toBe(2);
      await cut(gateway);
      expect(await ask(gateway, 'How many eyes?')).toBe('Eight.');
    });
    await until(paid, (count) => count >= 4);
    expect(paid()).toBe(4);
  });
});

test('a stream that was read to its end was sent whole', async () => {
  const readAll = async (): Promise<void> => {
    const stream = openAi(gateway).chat.completions.stream(asked());
    expect(await stream.finalContent()).toBe('Eight.');
  };
  await stage.whileWorking(async () => {
    await readAll();
    await readAll();
  });
  expect(paid()).toBe(2);
});

test('a solve that failed is told to all who ask again, streamed and whole, and counts from its first failure', async () => {
  stage.providers.script('a', [{ fault: 'bad-request', message: 'No legs here.' }]);
  const stream = async (): Promise<void> =>
    readToEnd(await openAi(gateway).chat.completions.create({ ...asked(), stream: true }));
  await stage.whileWorking(async () => {
    await expect(stream()).rejects.toThrow('No legs here.');
    const [noted] = await untilNoted('failed', 1);
    const repeats = [stream(), CHAT.ask(gateway), CHAT.ask(gateway)];
    for (const repeat of repeats) await expect(repeat).rejects.toThrow('No legs here.');
    expect(await endedNotes('failed')).toEqual([noted]);
    expect(paid()).toBe(1);
    expect(await CHAT.ask(gateway, 'How many eyes?')).toBe('Eight.');
  });
});

test('a response whose stream ends with its failure is told again, also to who sends its thoughts back', async () => {
  stage.providers.script('a', [{ fault: 'bad-request', message: 'No legs here.' }]);
  const thought = { type: 'reasoning' as const, summary: [{ type: 'summary_text' as const, text: 'Legs?' }] };
  const stream = async (failures: number): Promise<string[]> => {
    const types: string[] = [];
    const thoughts = Array.from({ length: failures }, (_, index) => ({ ...thought, id: `rs_${index}` }));
    const input = [QUESTION, ...thoughts];
    const body = { model: 'worker/a', input, stream: true } as const;
    for await (const { type } of await openAi(gateway).responses.create(body)) types.push(type);
    return types;
  };
  await stage.whileWorking(async () => {
    for (let failures = 0; failures < 3; failures += 1)
      expect((await stream(failures)).at(-1)).toBe('response.failed');
  });
  expect(paid()).toBe(1);
});

test('the repeat of another key is a solve of its own', async () => {
  await whileHeld(async (release) => {
    await CHAT.cut(gateway);
    gateway.secret = await gateway.key();
    const other = CHAT.ask(gateway);
    release();
    expect(await other).toBe('Eight.');
  });
  expect(paid()).toBe(2);
});

test('equal requests side by side are solves of their own, and each repeat gets one of those that broke off', async () => {
  await whileHeld(async (release) => {
    await Promise.all([CHAT.cut(gateway), CHAT.cut(gateway)]);
    await untilNoted('cut', 2);
    const first = CHAT.ask(gateway);
    const repeats = Promise.all([first, CHAT.ask(gateway), CHAT.ask(gateway)]);
    await until(paid, (count) => count >= 3);
    release();
    expect(await repeats).toEqual(['Eight.', 'Eight.', 'Eight.']);
  });
  expect(paid()).toBe(3);
});

test('any gateway of the store finds the solve, and none joins what another is sending', async () => {
  const other = await openGateway(stage);
  other.secret = gateway.secret;
  await whileHeld(async (release) => {
    const sent = CHAT.ask(gateway);
    await until(paid, (count) => count >= 1);
    await CHAT.cut(other);
    await until(paid, (count) => count >= 2);
    await untilNoted('cut', 1);
    const repeated = CHAT.ask(gateway);
    release();
    expect(await Promise.all([sent, repeated])).toEqual(['Eight.', 'Eight.']);
  });
  expect(paid()).toBe(2);
  await other.close();
});

test('a repeat joins no solve that was cancelled because its client left', async () => {
  const body = { ...asked(), conductor: { on_disconnect: 'cancel' } };
  await whileHeld(async (release) => {
    await leaveAfterFirst(await openAi(gateway).chat.completions.create({ ...body, stream: true }));
    const repeated = openAi(gateway).chat.completions.create(body);
    release();
    expect((await repeated).choices[0]?.message.content).toBe('Eight.');
  });
  expect(await solvesOf(gateway, 2)).toHaveLength(2);
});

test('an answer that a stopping gateway broke off is sent by the next one', async () => {
  const stopping = await openGateway(stage);
  stopping.secret = gateway.secret;
  await whileHeld(async (release) => {
    const stream = await openAi(stopping).chat.completions.create({ ...asked(), stream: true });
    const plain = CHAT.ask(stopping);
    await until(paid, (count) => count >= 2);
    await stopping.close();
    await expect(plain).rejects.toMatchObject({ status: 503 });
    await expect(readToEnd(stream)).rejects.toThrow('this gateway is stopping');
    const repeats = [CHAT.ask(gateway), CHAT.ask(gateway)];
    release();
    expect(await Promise.all(repeats)).toEqual(['Eight.', 'Eight.']);
  });
  expect(paid()).toBe(2);
});

/** Sends a request over a socket of its own, which the returned function cuts. */
async function sendRaw(path: string, body: object): Promise<() => void> {
  const { hostname, port } = new URL(gateway.url);
  const text = JSON.stringify(body);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  const head = [`POST ${path} HTTP/1.1`, `host: ${hostname}`, `authorization: Bearer ${gateway.secret}`];
  const lines = [...head, 'content-type: application/json', `content-length: ${Buffer.byteLength(text)}`];
  socket.write(`${lines.join('\r\n')}\r\n\r\n${text}`);
  return () => socket.destroy();
}

test.each([
  ['/api/solves', { question: 'How many legs?', model: 'worker/a' }],
  ['/v1/chat/completions', asked()],
  ['/v1/responses', { model: 'worker/a', input: 'How many legs?' }],
  ['/v1/messages', { ...asked(), max_tokens: 100 }],
])('a socket that is cut before %s answers leaves one solve to its repeat', async (path, body) => {
  // Without a worker, the request waits before its solve starts.
  const cut = await sendRaw(path, body);
  const [noted = ''] = await until(
    () => stage.store.list(ASKED_RUNS),
    (notes) => notes.length === 1,
  );
  cut();
  await stage.whileWorking(async () => {
    const fields = Object.fromEntries(Object.entries(body).reverse());
    const { headers, body: answer } = await until(
      () => gateway.ask('POST', path, fields),
      // A worker that has just started may not poll yet.
      ({ status }) => status !== 503,
    );
    expect(headers.get('x-conductor-solve') ?? answer.id).toBe(askedRunAt(noted));
    await until(paid, (count) => count >= 1);
  });
  expect(paid()).toBe(1);
});
