import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { OpenStreams } from '../../src/gateway/access/streams';
import { countPolls } from '../support/count-polls';
import { fieldOf, framesOf } from '../support/frames';
import { useGateway } from '../support/gateway';
import { useStage } from '../support/stage';
import { until } from '../support/until';

const stage = useStage({
  workers: ['a'],
  simulation: { models: { a: { answer: 'Eight.' } } },
  // The call is held while the streams open, and must not be taken for lost.
  config: { temporal: { heartbeat: '1m' } },
});
const gateway = useGateway(stage);

const MOST = 500;

test('a key has at most 500 streams open, which follow a run with one reader; other keys have their own', async () => {
  const release = stage.providers.hold('a');
  const polls = countPolls(stage.temporal.nativeConnection.workflowService);
  const other = await gateway.key({ isAdmin: true });
  await stage.whileWorking(async () => {
    const asked = { question: 'How many legs?', model: 'worker/a' };
    const { body } = await gateway.ask('POST', '/api/solves', asked);
    const path = `/api/solves/${String(body.id)}/events`;
    const follow = (secret: string, signal?: AbortSignal): Promise<Response> =>
      fetch(gateway.url + path, {
        headers: { authorization: `Bearer ${secret}` },
        ...(signal && { signal }),
      });
    const gone = new AbortController();
    const leaving = await follow(gateway.secret, gone.signal);
    const open: Response[] = [];
    // So many connections at once would be more than a busy machine accepts.
    while (open.length < MOST - 1) open.push(await follow(gateway.secret));
    const refused = await gateway.ask('GET', path);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
    const message = expect.stringMatching(/^key \S+ has 500 streams open at this gateway/) as string;
    expect(refused.body).toMatchObject({ error: { code: 'too_many_streams', message } });
    const before = stage.providers.log.length;
    const chat = { model: 'worker/a', messages: [{ role: 'user', content: 'Why?' }], stream: true };
    expect((await gateway.ask('POST', '/v1/chat/completions', chat)).status).toBe(429);
    const foreign = await follow(other);
    expect(foreign.status).toBe(200);

    gone.abort();
    await leaving.text().catch(() => undefined);
    const next = await until(
      () => follow(gateway.secret),
      ({ status }) => status !== 429,
    );
    expect(polls.most).toBe(1);
    release();
    const ends = [next, foreign, ...open].map(async (response) => {
      let last = '';
      for await (const frame of framesOf(response)) last = frame;
      return fieldOf(last, 'event');
    });
    expect(new Set(await Promise.all(ends))).toEqual(new Set(['ended']));
    // The refused chat has started no solve.
    expect(stage.providers.log.length).toBe(Math.max(before, 1));
  });
  expect(polls).toEqual({ open: 0, most: 1 });
}, 600_000);

test('what the streams of a key keep in memory is limited, and counted once for each source', () => {
  const streams = new OpenStreams({ streams: 10, characters: 100 });
  const open = (id: string, name: string, length: number): ServerResponse => {
    const response = new ServerResponse(new IncomingMessage(new Socket()));
    streams.open({ id, name: id }, response)({ name, length: () => length });
    return response;
  };
  const first = open('k', 'one', 60);
  open('k', 'one', 60);
  const other = open('k', 'two', 40);
  const refusal = 'the open streams of key k hold 100 characters of text, and at most 100 are kept for a key';
  expect(() => open('k', 'three', 1)).toThrow(refusal);
  open('other', 'three', 1);
  first.emit('close');
  expect(() => open('k', 'three', 1)).toThrow(refusal);
  other.emit('close');
  open('k', 'three', 1);
});
