import { ConductorClient, type LiveEvent, renderPlan, type Retry, type SolveResult } from '../../src';
import { FollowedRun } from '../../src/client/live/followed-run';
import { keptAnswers } from '../durability/kept-answers';
import { countPolls } from '../support/count-polls';
import { openStage, type Stage, step, useStage } from '../support/stage';
import { ENCRYPTED_STORES, STORES } from '../support/stores';
import { until } from '../support/until';
import { useOnce } from '../support/use';

const stage = useStage({ workers: ['a', 'b'] });

const TEXT = 'Eight legs, 🙂 and as many eyes. '.repeat(60);

async function take(events: AsyncIterable<LiveEvent>, count = Infinity): Promise<LiveEvent[]> {
  const taken: LiveEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length >= count) break;
  }
  return taken;
}

const textOf = (events: readonly LiveEvent[], step: number): string =>
  events.map((event) => (event.kind === 'text' && event.step === step ? event.delta : '')).join('');

/** Kinds of events, a text counted once. A plan's words are told only while it is written. */
function kindsOf(events: readonly LiveEvent[]): string[] {
  const kinds = events.map(({ kind }) => kind).filter((kind) => kind !== 'planning');
  return kinds.filter((kind, index) => kind !== 'text' || kinds[index - 1] !== 'text');
}

const withoutCursor = (event: LiveEvent): object => ({ ...event, cursor: undefined });

function play(own: Stage = stage, ms = 500): void {
  own.plan([step('a', 'Count the legs.'), step('b', 'Answer.', [0])]);
  own.providers.answer('a', { text: TEXT });
  own.providers.script('a', [{ fault: 'drip', ms }]);
  own.providers.answer('b', 'Eight.');
}

/** Time to write a text whose end no test waits for. */
const LONG_MS = 20_000;

/** Takes the first pieces of a text that is written for long, then cancels the run. Returns the answers kept by then. */
async function takeLive(own: Stage, count: number): Promise<number> {
  play(own, LONG_MS);
  return own.whileWorking(async () => {
    const { id } = await own.client.start({ question: 'How many legs?', live: true });
    let taken = 0;
    for await (const event of own.client.stream(id)) {
      if (event.kind === 'text') taken += 1;
      if (taken === count) break;
    }
    const kept = await keptAnswers(own.store);
    await own.client.cancel(id);
    await (await own.client.attach(id)).result();
    return kept.length;
  });
}

test('a stream reports a run as it happens', async () => {
  play();
  const events = await stage.whileWorking(() => take(stage.client.stream({ question: 'How many legs?' })));
  expect(kindsOf(events)).toEqual([
    'planned',
    ...['stepStarted', 'text', 'stepEnded'],
    ...['stepStarted', 'text', 'stepEnded'],
    'ended',
  ]);
  expect(textOf(events, 0)).toBe(TEXT);
  expect(textOf(events, 1)).toBe('Eight.');
  expect(events.at(-1)).toMatchObject({ kind: 'ended', status: 'completed', answer: 'Eight.' });
});

test('the text of a step is reported while it is written', async () => {
  // Only the plan was kept.
  expect(await takeLive(stage, 2)).toBe(1);
});

test('from any cursor, another process gets the rest, and nothing twice', async () => {
  play();
  const { client, store, taskQueue, temporal } = stage;
  const id = 'told-in-parts';
  const other = (): ConductorClient => new ConductorClient({ client: temporal.client, store, taskQueue });
  const [parts, whole] = await stage.whileWorking(async () => {
    await client.start({ question: 'How many legs?', live: true }, id);
    const told: LiveEvent[] = [];
    for (let count = 1; told.at(-1)?.kind !== 'ended'; count += 1) {
      told.push(...(await take(other().stream(id, { after: told.at(-1)?.cursor }), count)));
    }
    return [told, await take(client.stream(id))];
  });
  expect(kindsOf(parts)).toEqual(kindsOf(whole));
  for (const index of [0, 1]) expect(textOf(parts, index)).toBe(textOf(whole, index));
  expect(await take(client.stream(id, { after: parts.at(-1)?.cursor }))).toEqual([]);
});

test('unless it was asked for, nothing is logged live, and each text comes when its step has ended', async () => {
  play();
  const id = 'quiet';
  await stage.solve({ question: 'How many legs?' }, id);
  expect(await stage.store.list('live/')).toEqual([]);
  const events = await take(stage.client.stream(id));
  expect(events.filter(({ kind }) => kind === 'text').map(withoutCursor)).toEqual([
    { kind: 'text', childId: null, round: 0, step: 0, attempt: 1, offset: 0, delta: TEXT },
    { kind: 'text', childId: null, round: 0, step: 1, attempt: 1, offset: 0, delta: 'Eight.' },
  ]);
});

test('an attempt that does not continue the reported text restarts it', async () => {
  stage.plan([step('a', 'Count the legs.')]);
  stage.providers.answer('a', TEXT);
  stage.providers.script('a', [{ fault: 'failed-midway' }]);
  const events = await stage.whileWorking(() => take(stage.client.stream({ question: 'How many legs?' })));
  const restarted = events.findLastIndex(({ kind }) => kind === 'restarted');
  expect(textOf(events.slice(restarted + 1), 0)).toBe(TEXT);
  expect(events.at(-1)).toMatchObject({ status: 'completed', answer: TEXT });
});

test('if a review may change the answer, only the text of the step that gives it is provisional', async () => {
  stage.plan([step('a', 'Count the legs.'), step('b', 'Answer.', [0])]);
  stage.providers.script('conductor', [renderPlan({ steps: [] }, ['a', 'b', 'conductor'])]);
  const request = { question: 'How many legs?', limits: { depth: 1 } };
  const events = await stage.whileWorking(() => take(stage.client.stream(request)));
  const texts = events.flatMap((event) => (event.kind === 'text' ? [[event.step, event.provisional]] : []));
  expect(new Set(texts.map((text) => JSON.stringify(text)))).toEqual(new Set(['[0,null]', '[1,true]']));
  const accepted = { kind: 'reviewed', childId: null, round: 0, decision: 'accepted' };
  expect(events).toContainEqual(expect.objectContaining(accepted));
});

test('a call that waits for a rate limit is reported, even in a child run, with the time at which it goes on', async () => {
  stage.plan([step('conductor', 'Count the legs.')]);
  stage.plan([step('a', 'Answer.')]);
  const limited = { fault: 'rate-limited', retryAfter: { ms: 3000, as: 'seconds' } } as const;
  const events: LiveEvent[] = [];
  const waits = () =>
    events.flatMap((event) => (event.kind === 'waiting' && 'until' in event ? [event] : []));
  // A wait may be over before the stream looks, once a second: then there is another one.
  stage.providers.answer('a', () => (waits().length === 0 ? limited : 'Eight.'));
  const id = 'rated';
  await stage.whileWorking(async () => {
    await stage.client.start({ question: 'How many legs?', limits: { depth: 1 } }, id);
    for await (const event of stage.client.stream(id)) events.push(event);
  });
  const [first] = waits();
  expect(first && withoutCursor(first)).toEqual({
    ...{ kind: 'waiting', for: 'rate', childId: `${id}-r0s1` },
    reason: expect.stringContaining('worker a (openai a) answered 429') as string,
    until: expect.stringMatching(/^\d{4}-.*Z$/) as string,
  });
  const asked = stage.requestsTo('a').at(-1);
  expect(asked?.receivedAt).toBeGreaterThanOrEqual(Date.parse(first?.until ?? ''));
});

test('a store that never sends notifications is polled all the same', async () => {
  const own = await openStage({ workers: ['a', 'b'] });
  Object.assign(own.store, { onAppend: () => () => undefined });
  expect(await takeLive(own, 1)).toBe(1);
  await own.close();
});

test('all streams of a run in a client share one reader, which ends with the last of them', async () => {
  const release = stage.providers.hold('a');
  play();
  const { client } = stage;
  const polls = countPolls(stage.temporal.client.workflowService);
  const id = 'shared';
  await stage.whileWorking(async () => {
    await client.start({ question: 'How many legs?', live: true }, id);
    const leaving = client.stream(id);
    await leaving.next();
    await leaving.return(undefined);
    // Nobody follows the run any more.
    await until(
      () => polls.open,
      (open) => open === 0,
    );
    const first = client.stream(id);
    const planned = (await first.next()).value as LiveEvent;
    const whole = Array.from({ length: 10 }, () => take(client.stream(id)));
    const resumed = Array.from({ length: 10 }, () => take(client.stream(id, { after: planned.cursor })));
    release();
    const [told, ...others] = await Promise.all([take(first), ...resumed]);
    for (const events of others) expect(events).toEqual(told);
    for (const events of await Promise.all(whole)) expect(events).toEqual([planned, ...told]);
    expect(textOf(told, 0)).toBe(TEXT);
    expect(client.streamedLength(id)).toBe(0);
  });
  expect(polls).toEqual({ open: 0, most: 1 });
});

test('once a run has ended, nobody asks which of its calls wait, even if a stream of it is left open', async () => {
  const { client, temporal } = stage;
  const closing = new AbortController();
  const asked = { ended: 0, running: 0 };
  const follow = async (id: 'ended' | 'running'): Promise<FollowedRun> => {
    await client.start({ question: 'How many legs?' }, id);
    const watch = (signal: AbortSignal): AsyncGenerator<SolveResult> => client.watch(id, signal);
    const retries = (): Promise<Retry[]> => {
      asked[id] += 1;
      return client.retries(id);
    };
    return new FollowedRun({ id, client: temporal.client, watch, retries, store: null }, closing.signal);
  };
  const timesAsked = (id: 'ended' | 'running', least: number): Promise<number> =>
    until(
      () => asked[id],
      (times) => times >= least,
    );
  const followed = await follow('ended');
  await follow('running');
  await timesAsked('ended', 1);
  await temporal.client.workflow.getHandle('ended').terminate();
  await until(
    () => followed.end,
    (end) => end !== null,
  );
  const { ended, running } = asked;
  await timesAsked('running', running + 3);
  closing.abort();
  await temporal.client.workflow.getHandle('running').terminate();
  expect(asked.ended).toBe(ended);
});

test('an invalid cursor is refused', async () => {
  await expect(take(stage.client.stream('any', { after: 'page 3' }))).rejects.toThrow(
    '"page 3" is no cursor',
  );
});

describe.each([...STORES, ...ENCRYPTED_STORES])('a store of kind %s', (kind, startStores) => {
  const stores = useOnce(startStores);

  test('delivers the whole text', async () => {
    const own = await openStage({ workers: ['a', 'b'], store: await stores.open() });
    play(own);
    const events = await own.whileWorking(() => take(own.client.stream({ question: 'How many legs?' })));
    expect(textOf(events, 0)).toBe(TEXT);
    const pieces = events.filter((event) => event.kind === 'text' && event.step === 0).length;
    if (kind.startsWith('s3:')) expect(pieces).toBe(1);
    await own.close();
  });

  if (!kind.startsWith('s3:')) {
    test('delivers it while it is written', async () => {
      const own = await openStage({ workers: ['a', 'b'], store: await stores.open() });
      expect(await takeLive(own, 2)).toBe(1);
      await own.close();
    });
  }
});
