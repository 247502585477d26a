import { createHash, randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { encryptionConverter } from '../../src/encryption/codec';
import { openStore } from '../../src/store/open-store';
import { INIT, WARM_START } from '../../src/training/names';
import { trainerMessages } from '../../src/training/trainer-contract';
import { keyRing, keysText } from '../encryption/test-keys';
import { freshFolder } from '../local/fresh-folder';
import { type PythonProgram, runPython } from '../../research/support/programs';
import { type S3Server, startS3Server } from '../support/s3-server';
import { connect, testTaskQueue, type TestTemporal } from '../support/temporal';
import { until } from '../support/until';
import { payload as init } from '../training/golden/initRequest.json';
import { payload as warmStart } from '../training/golden/warmStartRequest.json';

// The Python worker as it is started by hand, with encrypted payloads and an encrypted bucket. Its first step waits for
// the import of torch.
jest.setTimeout(180_000);

const KEYS_VARIABLE = 'TRAINER_TEST_KEYS';
const taskQueue = testTaskQueue();
const keys = keyRing('a');
const ARTIFACTS = 's3://bucket/artifacts';

let folder: string;
let temporal: TestTemporal;
let client: Client;
let bucket: S3Server;
let worker: PythonProgram;

beforeAll(async () => {
  folder = await freshFolder();
  temporal = await connect();
  client = new Client({
    connection: temporal.client.connection,
    dataConverter: encryptionConverter(keys, { strict: true }),
  });
  await mkdir(join(folder, 'buckets', 'bucket'), { recursive: true });
  bucket = await startS3Server(join(folder, 'buckets'));
  Object.assign(process.env, bucket.env);
  const places = ['--artifacts', ARTIFACTS, '--checkpoints', `${folder}/checkpoints`];
  const queue = ['--task-queue', taskQueue, '--encryption-key-env', KEYS_VARIABLE, '--encryption-strict'];
  worker = await runPython('worker', [...places, ...queue], {
    TEMPORAL_ADDRESS: temporal.address,
    [KEYS_VARIABLE]: keysText('a'),
  });
});

afterAll(async () => {
  await worker.stop();
  await bucket.close();
  await temporal.close();
});

test('a worker that is ready says what it serves', () => {
  expect(worker.ready).toEqual({ taskQueue, namespace: 'default' });
});

test('a step reads encrypted texts from a bucket, and is carried out only once', async () => {
  const first = trainerMessages.checkpointResult.parse(await run(INIT, await initRequest()));
  expect(first).toMatchObject({ checkpoint: { trainRun: 'night-shift', name: 'base' }, replayed: false });
  expect(await run(INIT, await initRequest())).toEqual({ ...first, replayed: true });
});

test('a request that breaks the contract fails permanently, with field and value', async () => {
  const { config } = init;
  const broken = { ...(await initRequest()), config: { ...config, seed: -1 } };
  const failure = await failureOf(run(INIT, broken));
  expect(failure).toMatchObject({ type: 'Trainer.BadRequest', nonRetryable: true });
  expect(failure.message).toContain('initRequest.config.seed');
  expect(failure.message).toContain('-1');
});

test('a missing artifact fails permanently, with its key', async () => {
  const { base } = init;
  const texts = { ...base.texts, key: 'training/night-shift/lost.jsonl' };
  const failure = await failureOf(run(INIT, { ...init, trainRun: 'textless', base: { ...base, texts } }));
  expect(failure).toMatchObject({ type: 'Trainer.NotInArtifacts', nonRetryable: true });
  expect(failure.message).toContain(texts.key);
});

test('a cancelled step is killed, and makes room for the next one', async () => {
  const lesson = { prompt: 'How much is 1 and 2?', completion: 'model_id = [0]' };
  const examples = await keep('examples.jsonl', [lesson]);
  await run(INIT, await initRequest());
  const endless = await start(WARM_START, { ...warmStart, examples, steps: 1_000_000, batch: 1 });
  await until(
    async () =>
      (await endless.describe({ includeHeartbeatDetails: true })).getHeartbeatDetails<{ phase: string }>(),
    (heartbeat) => heartbeat?.phase !== undefined && !['fetching', 'waiting'].includes(heartbeat.phase),
  );
  await endless.cancel('nobody wants it');
  await expect(endless.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
  expect(await run(INIT, await initRequest())).toMatchObject({ replayed: true });
});

async function initRequest(): Promise<typeof init> {
  const texts = await keep(
    'texts.jsonl',
    Array.from({ length: 40 }, (_, at) => `How much is ${at} and 26?`),
  );
  return { ...init, base: { ...init.base, texts } };
}

/** Stores JSON lines as an artifact, as the product does. */
async function keep(name: string, lines: readonly unknown[]): Promise<{ key: string; sha256: string }> {
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const key = `training/night-shift/${name}`;
  await openStore(ARTIFACTS, folder, { keys }).write(key, bytes);
  return { key, sha256: createHash('sha256').update(bytes).digest('hex') };
}

async function run(type: string, request: object): Promise<unknown> {
  return (await start(type, request)).result();
}

function start(type: string, request: object): ReturnType<typeof client.activity.start<unknown>> {
  return client.activity.start<unknown>(type, {
    id: randomUUID(),
    taskQueue,
    args: [request],
    startToCloseTimeout: '2m',
    heartbeatTimeout: '6s',
    retry: { maximumAttempts: 2 },
  });
}

async function failureOf(work: Promise<unknown>): Promise<ApplicationFailure> {
  const error: unknown = await work.catch((reason: unknown) => reason);
  const { cause } = Object(error) as { cause?: unknown };
  if (cause instanceof ApplicationFailure) return cause;
  throw new Error('the activity did not fail as an application', { cause: error });
}
