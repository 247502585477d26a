import { randomBytes, randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, WorkflowFailedError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { readSpending } from '../../src/gateway/access';
import { encryptionCodec, FAILURES, readEncryptionKeys } from '../../src';
import { addAttributes } from '../../src/client';
import type { NexusAnswer, NexusQuestion, NexusSolveName } from '../../src/nexus';
import { nexusCallId } from '../../src/nexus/names';
import { ConductorNexusPlugin, type NexusCallers } from '../../src/nexus/worker';
import { CRITERIA, SEARCH_ATTRIBUTES } from '../../src/protocol/search-attributes';
import type { ToldSolve } from '../../src/trace/told-solve';
import { freshFolder } from '../local/fresh-folder';
import { openStage, type Stage, step } from '../support/stage';
import { openNamespace } from '../support/temporal';
import { until } from '../support/until';
import type { ask, look as lookAt } from './caller-workflows';

const CALLER_FILE = require.resolve('./caller-workflows');
const TEAM_FILE = require.resolve('./team-workflows');

const ANSWER = 'About 75 tuners. '.repeat(2000).trim();
const QUESTION = { question: 'How many piano tuners are there?', pool: { allow: ['a'] } };

let bundles: { readonly caller: string; readonly team: string };
beforeAll(async () => {
  const folder = await freshFolder();
  const logger = new DefaultLogger('ERROR');
  const bundle = async (name: string, workflowsPath: string): Promise<string> => {
    const { code } = await bundleWorkflowCode({ workflowsPath, logger });
    await writeFile(join(folder, name), code);
    return join(folder, name);
  };
  bundles = { caller: await bundle('caller.js', CALLER_FILE), team: await bundle('team.js', TEAM_FILE) };
});

/** A team in one namespace, an endpoint that leads to it, and a worker of another namespace. */
interface Neighbours {
  readonly stage: Stage;
  readonly caller: string;
  /** Has a workflow of the caller's namespace ask, and returns its handle. */
  readonly start: (question: NexusQuestion) => ReturnType<Client['workflow']['start']>;
  readonly ask: (question: NexusQuestion) => Promise<NexusAnswer>;
  /** Has a workflow of the caller's namespace look how a solve stands. */
  readonly look: (name: NexusSolveName) => Promise<ToldSolve>;
}

let stage: Stage;
beforeEach(async () => {
  stage = await openStage({ workers: ['a'], simulation: { models: { a: { answer: ANSWER } } } });
});
afterEach(() => stage.close());

interface Setting {
  readonly callers?: (caller: string) => NexusCallers;
  /** Data converters of the two sides. */
  readonly converters?: Partial<Record<'team' | 'caller', DataConverter>>;
}

/** Runs both workers for as long as `work` takes. */
async function whileNeighbours(
  usdPerDay: number | null,
  work: (neighbours: Neighbours) => Promise<void>,
  { callers = (caller) => ({ [caller]: { usdPerDay } }), converters = {} }: Setting = {},
): Promise<void> {
  const { temporal, taskQueue, store } = stage;
  const config = { ...stage.config, temporal: { ...stage.config.temporal, searchAttributes: true } } as const;
  await addAttributes(temporal.client, CRITERIA);
  const caller = await openNamespace(temporal);
  const endpoint = `team-${randomUUID()}`;
  await temporal.client.connection.operatorService.createNexusEndpoint({
    spec: { name: endpoint, target: { worker: { namespace: 'default', taskQueue } } },
  });
  const { connection } = temporal.client;
  const client = new Client({ connection, namespace: caller, dataConverter: converters.caller });
  const asking = await Worker.create({
    connection: temporal.nativeConnection,
    namespace: caller,
    taskQueue,
    workflowBundle: { codePath: bundles.caller },
    dataConverter: converters.caller,
  });
  const start: Neighbours['start'] = (question) =>
    client.workflow.start<typeof ask>('ask', {
      workflowId: `ask-${randomUUID()}`,
      taskQueue,
      args: [endpoint, question],
    });
  const asked: Neighbours['ask'] = async (question) =>
    (await start(question)).result() as Promise<NexusAnswer>;
  const look: Neighbours['look'] = (name) =>
    client.workflow.execute<typeof lookAt>('look', {
      workflowId: `look-${randomUUID()}`,
      taskQueue,
      args: [endpoint, name],
    });
  const plugins = [new ConductorNexusPlugin({ callers: callers(caller), config, store }), stage.plugin()];
  await stage.whileWorking(() => asking.runUntil(() => work({ stage, caller, start, ask: asked, look })), {
    plugins,
    workflowBundle: { codePath: bundles.team },
    dataConverter: converters.team,
  });
}

/** Returns why a workflow's operation failed, as the caller sees it. */
async function failureOf(asked: Promise<unknown>): Promise<unknown> {
  const failed: unknown = await asked.then(
    (answer) => ({ answer }),
    (error: unknown) => error,
  );
  if (!(failed instanceof WorkflowFailedError)) return failed;
  return failed.cause?.cause;
}

const paid = (): number => stage.requestsTo('a').length;

test('a workflow of another namespace gets the answer whole, whose cost its namespace pays', async () => {
  await whileNeighbours(5, async ({ caller, ask: asked }) => {
    stage.plan([step('a', 'Count them.')]);
    const answer = await asked({ ...QUESTION, tenant: 'shop' });
    expect(answer.answer === ANSWER).toBe(true);
    expect(answer).toMatchObject({ status: 'completed', degraded: false, error: null });
    expect(answer.id.startsWith(`nexus-${caller}-`)).toBe(true);
    const trace = await stage.client.trace(answer.id);
    expect(trace.costUsd).toBe(answer.costUsd);
    const { spentNanoUsd, heldNanoUsd } = await readSpending(stage.store, `nexus-${caller}`, Date.now());
    expect([spentNanoUsd, heldNanoUsd]).toEqual([Math.round(answer.costUsd * 1e9), 0]);
    // The operation ends after 45 seconds, and the solve no later.
    expect((await stage.client.limits(answer.id)).wallClockMs).toBeLessThanOrEqual(45_000);
    const { typedSearchAttributes } = await stage.temporal.client.workflow.getHandle(answer.id).describe();
    const found = typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value] as const);
    expect(Object.fromEntries(found)).toMatchObject({
      [SEARCH_ATTRIBUTES.key]: caller,
      [SEARCH_ATTRIBUTES.tenant]: 'shop',
    });
  });
});

test('equal questions under one key are one solve, running or ended, and another question is refused', async () => {
  await whileNeighbours(null, async ({ ask: asked }) => {
    const keyed = { ...QUESTION, key: 'order-17' };
    const release = stage.providers.hold('a');
    const both = [asked(keyed), asked(keyed)];
    await until(paid, (count) => count >= 1);
    release();
    const [one, other] = await Promise.all(both);
    expect(other).toEqual(one);
    expect(await asked(keyed)).toEqual(one);
    expect(paid()).toBe(1);
    const another = failureOf(asked({ ...keyed, question: 'How many organs are there?' }));
    expect(await another).toMatchObject({
      type: 'CONFLICT',
      message: expect.stringContaining('was used for another question') as string,
    });
    expect(await asked(QUESTION)).toMatchObject({ answer: ANSWER });
    expect(paid()).toBe(2);
  });
});

test('a namespace looks at its own solves, by key or id, and at no others', async () => {
  await whileNeighbours(null, async ({ caller, start, look }) => {
    const release = stage.providers.hold('a');
    const handle = await start({ ...QUESTION, key: 'order-19' });
    await until(paid, (count) => count >= 1);
    const running = await look({ key: 'order-19' });
    expect(running).toMatchObject({ status: 'running', answer: null });
    release();
    const { id, answer } = (await handle.result()) as NexusAnswer;
    expect(running.id).toBe(id);
    expect(await look({ id })).toMatchObject({ id, status: 'completed', answer });
    // One of another namespace, whose name begins with this one's, and one that is not of Nexus.
    const others = [`nexus-${caller}-2-order`, `own-${caller}`];
    for (const other of others)
      await stage.temporal.client.workflow.start('conductorNexusSolve', {
        workflowId: nexusCallId(other),
        taskQueue: `${stage.taskQueue}-nobody`,
        memo: { caller: `${caller}-2` },
      });
    for (const other of [...others, 'none'])
      expect(await failureOf(look({ id: other }))).toMatchObject({
        type: 'NOT_FOUND',
        message: expect.stringContaining(`has asked for no solve ${JSON.stringify(other)}`) as string,
      });
    for (const name of [{}, { id, key: 'order-19' }])
      expect(await failureOf(look(name))).toMatchObject({ type: 'BAD_REQUEST' });
  });
});

test.each([
  ['is empty', { question: ' ' }, 'the question is empty'],
  ['has neither question nor messages', {}, 'expected a question, or messages in its place'],
  ['has an unknown field', { ...QUESTION, parent: {} }, 'input'],
  ['names a limit above the configured one', { ...QUESTION, limits: { calls: 1000 } }, 'calls'],
])('a question that %s is refused in one sentence', async (_, question, message) => {
  await whileNeighbours(5, async ({ ask: asked }) => {
    expect(await failureOf(asked(question))).toMatchObject({
      type: 'BAD_REQUEST',
      message: expect.stringContaining(message) as string,
    });
  });
  expect(paid()).toBe(0);
});

test('a namespace that is not listed is refused', async () => {
  await whileNeighbours(
    null,
    async ({ caller, ask: asked }) => {
      expect(await failureOf(asked(QUESTION))).toMatchObject({
        type: 'UNAUTHORIZED',
        message: expect.stringContaining(`namespace "${caller}" may not ask this team`) as string,
      });
    },
    { callers: () => ({ another: { usdPerDay: null } }) },
  );
  expect(paid()).toBe(0);
});

test('a namespace whose budget is spent is refused, by an error that is not retried', async () => {
  await whileNeighbours(0, async ({ ask: asked }) => {
    expect(await failureOf(asked({ ...QUESTION, limits: { costUsd: 0.1 } }))).toMatchObject({
      type: 'RESOURCE_EXHAUSTED',
      message: expect.stringMatching(/^namespace ".*" may spend \$0(\.0+)? a day/) as string,
    });
  });
  expect(paid()).toBe(0);
});

test('a solve without an answer fails the operation, by the type of its failure', async () => {
  stage.providers.script('a', [{ fault: 'bad-request', message: 'No tuners here.' }]);
  await whileNeighbours(null, async ({ ask: asked }) => {
    const keyed = { ...QUESTION, key: 'order-18' };
    const expected = {
      type: FAILURES.noAnswer,
      message: expect.stringContaining('No tuners here.') as string,
    };
    expect(await failureOf(asked(keyed))).toMatchObject(expected);
    // Asking again after the failure fails the operation at once.
    expect(await failureOf(asked(keyed))).toMatchObject({ type: 'OperationError', cause: expected });
  });
});

test('an answer that Temporal would not take in JSON fails the operation, by a type of its own', async () => {
  // Each character takes six bytes in JSON.
  stage.providers.script('a', ['\u0001'.repeat(400_000)]);
  await whileNeighbours(null, async ({ ask: asked, look }) => {
    const tooLong = { type: 'AnswerTooLong', message: expect.stringContaining('2400000 bytes') as string };
    expect(await failureOf(asked({ ...QUESTION, key: 'order-20' }))).toMatchObject(tooLong);
    expect(await failureOf(look({ key: 'order-20' }))).toMatchObject({ cause: tooLong });
  });
  expect(paid()).toBe(1);
});

test('a caller that has the keys of a team which encrypts strictly reads its answer', async () => {
  const keys = readEncryptionKeys('KEYS', { KEYS: `k1:${randomBytes(32).toString('base64')}` });
  const converters = {
    team: { payloadCodecs: [encryptionCodec(keys, { strict: true })] },
    caller: { payloadCodecs: [encryptionCodec(keys)] },
  };
  const ask = ({ ask: asked }: Neighbours): Promise<void> =>
    asked(QUESTION).then(({ answer }) => {
      expect(answer === ANSWER).toBe(true);
    });
  await whileNeighbours(null, ask, { converters });
});

test('the recorded history of a call replays', async () => {
  const history = JSON.parse(await readFile(join(__dirname, 'asked.json'), 'utf8')) as unknown;
  await Worker.runReplayHistory({ workflowBundle: { codePath: bundles.team } }, history);
});

test('a workflow that is cancelled cancels its solve, whose cost is booked', async () => {
  const release = stage.providers.hold('a');
  await whileNeighbours(5, async ({ caller, start }) => {
    const handle = await start(QUESTION);
    await until(paid, (count) => count >= 1);
    await handle.cancel();
    await expect(handle.result()).rejects.toBeInstanceOf(WorkflowFailedError);
    const heldOf = async (): Promise<number> =>
      (await readSpending(stage.store, `nexus-${caller}`, Date.now())).heldNanoUsd;
    await until(heldOf, (held) => held === 0);
    const { runs } = await stage.client.list({ prefix: `nexus-${caller}-`, ended: 10 });
    expect(runs).toMatchObject([{ status: 'cancelled' }]);
  });
  release();
});
