import { Client } from '@temporalio/client';
import type { Payload, PayloadCodec } from '@temporalio/common';
import { ConductorClient, encryptionConverter } from '../../src';
import type { TemporalEvent } from '../../src/client/history';
import { endOf, refusalOf, untilTrace } from '../support/until';
import { step } from '../support/stage';
import { type EncryptedStage, openEncryptedStage } from './encrypted-stage';
import { keyRing } from './test-keys';

const keys = keyRing('a');
const strict = { dataConverter: encryptionConverter(keys, { strict: true }) };

let stage: EncryptedStage;
beforeEach(async () => {
  stage = await openEncryptedStage({ workers: ['a', 'b'] });
  stage.plan([step('a', 'Begin.'), step('b', 'End.', [0])]);
});
afterEach(() => stage.close());

function whileStrict<T>(work: () => Promise<T>): Promise<T> {
  return stage.whileWorkingWith(keys, work, strict);
}

test('a strict worker handles all of an encrypted run', async () => {
  stage.providers.script('a', [
    { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' } },
    'long enough to lie in the store. '.repeat(300),
  ]);
  stage.providers.answer('b', 'the end');
  const client = new Client({ connection: stage.temporal.client.connection, ...strict });
  const { taskQueue } = stage;
  const conductor = new ConductorClient({ client, store: stage.storeWith(keys), taskQueue });
  const result = await whileStrict(async () => {
    const { id } = await conductor.start({ question: 'Who may ask?', approval: 'plan' });
    await untilTrace({ client: conductor }, id, ({ waitsFor }) => waitsFor === 'approval');
    expect(await conductor.setLimits(id, { calls: 9 })).toMatchObject({ calls: 9 });
    await conductor.approvePlan(id);
    return endOf({ ...stage, client: conductor }, id);
  });
  expect(result).toMatchObject({ status: 'completed', degraded: false, answer: 'the end' });
});

/** Returns the payloads that `find` gets from the first event of a run's history that has any. */
async function payloadsOf(
  id: string,
  find: (event: TemporalEvent) => { payloads?: Payload[] | null } | null | undefined,
): Promise<Payload[]> {
  const { events } = await stage.temporal.client.workflow.getHandle(id).fetchHistory();
  return (events ?? []).map((event) => find(event)?.payloads ?? []).find(({ length }) => length > 0) ?? [];
}

const inputOf = (id: string): Promise<Payload[]> =>
  payloadsOf(id, (event) => event.workflowExecutionStartedEventAttributes?.input);

/** Returns a client without keys, which sends these copied ciphertexts unchanged. */
function copying(payloads: Payload[]): Client {
  const codec: PayloadCodec = {
    encode: () => Promise.resolve(payloads),
    decode: (sealed) => Promise.resolve(sealed),
  };
  const { connection } = stage.temporal.client;
  return new Client({ connection, dataConverter: { payloadCodecs: [codec] } });
}

/** Starts a run, as any client of the namespace may, and returns its end. */
async function forgedRun(client: Client, id: string): Promise<unknown> {
  const handle = await client.workflow.start('conductorSolve', {
    workflowId: id,
    taskQueue: stage.taskQueue,
    args: [{ question: 'Who may ask?' }],
  });
  return endOf({ ...stage, client: stage.conductorWith(keys) }, handle.workflowId);
}

const REFUSED = { status: 'failed', error: { type: 'Solve.BadInput' }, calls: [] };

test('a run that was started in the clear fails, and asks no model', async () => {
  await whileStrict(async () => {
    const result = await forgedRun(stage.temporal.client, `forged-${stage.taskQueue}`);
    expect(result).toMatchObject(REFUSED);
    const message: unknown = expect.stringContaining('not encrypted for this run');
    expect(result).toMatchObject({ error: { message } });
  });
  expect(stage.providers.log).toEqual([]);
});

test('an encrypted input can start only its own run', async () => {
  await whileStrict(async () => {
    const { id } = await stage.conductorWith(keys).solve({ question: 'Who may ask?' });
    const asked = stage.providers.log.length;
    const thief = copying(await inputOf(id));
    for (const other of [`${id}-again`, `${id}-2026-11-23T00:00:00Z`])
      expect(await forgedRun(thief, other)).toMatchObject(REFUSED);
    expect(stage.providers.log).toHaveLength(asked);
  });
});

test('a plan can be approved only with a key, and messages sent without one do not hold up its run', async () => {
  await whileStrict(async () => {
    const conductor = stage.conductorWith(keys);
    const [one, two] = await Promise.all(
      ['one', 'two'].map(async (name) => {
        stage.plan([step('a', 'Begin.'), step('b', 'End.', [0])]);
        const id = `${name}-${stage.taskQueue}`;
        await conductor.start({ question: 'Who may ask?', approval: 'plan' }, id);
        return untilTrace({ client: conductor }, id, ({ waitsFor }) => waitsFor === 'approval');
      }),
    );
    if (one === undefined || two === undefined) throw new Error('there are two');
    const asked = stage.providers.log.length;

    const stranger = stage.temporal.client.workflow.getHandle(one.id);
    const update = async (client: Client, name: string, ...args: unknown[]): Promise<string> =>
      refusalOf(client.workflow.getHandle(one.id).executeUpdate(name, { args: args as [unknown] }));
    await update(stage.temporal.client, 'approvePlan');
    await update(stage.temporal.client, 'approvePlan', one.rounds[0]?.plan);
    await update(stage.temporal.client, 'editPlan', one.rounds[0]?.plan);
    await update(stage.temporal.client, 'setLimits', { costUsd: null });
    await stranger.signal('addHint', 'Ask twice.');
    await stranger.signal('setMaxDepth', 5);

    await conductor.approvePlan(two.id);
    const verdict = await payloadsOf(
      two.id,
      (event) => event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input?.args,
    );
    expect(verdict).toHaveLength(1);
    await update(copying(verdict), 'approvePlan', 'what was copied');

    expect(await conductor.trace(one.id)).toMatchObject({ waitsFor: 'approval' });
    expect(stage.requestsTo('conductor')).toHaveLength(asked);
    await conductor.approvePlan(one.id);
    expect(await endOf({ ...stage, client: conductor }, one.id)).toMatchObject({
      status: 'completed',
      degraded: false,
    });
  });
});
