import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type WorkerOptions } from '@temporalio/worker';
import { type ConductorClient, failureConverterPath, type SolveResult } from '../../src';
import type { TemporalServer } from '../../src/local/configured-server';
import { embeddedServer } from '../../src/local/embedded-server';
import { freshFolder } from '../local/fresh-folder';
import { openStage, type Stage, step } from '../support/stage';
import { type EncryptedStage, openEncryptedStage } from './encrypted-stage';
import { keyRing } from './test-keys';

const keys = keyRing('a');

/** Words to search for: each occurs in one part of a run, and nowhere else. */
const WORDS = [
  'quokka-question',
  'numbat-subtask',
  'bilby-output',
  'potoroo-long-output',
  'wombat-failure',
  'dibbler-memo',
];
const [QUESTION, SUBTASK, OUTPUT, LONG_OUTPUT, FAILURE, MEMO] = WORDS;
const LONG = `${LONG_OUTPUT} and what comes after it. `.repeat(300);

/** Bundle as a user builds it, because the failure converter is part of a bundle. */
let workflowBundle: NonNullable<WorkerOptions['workflowBundle']>;
beforeAll(async () => {
  const codePath = join(await freshFolder(), 'workflows.js');
  const workflowsPath = require.resolve('../../src/workflows');
  const logger = new DefaultLogger('ERROR');
  const { code } = await bundleWorkflowCode({ workflowsPath, failureConverterPath, logger });
  await writeFile(codePath, code);
  workflowBundle = { codePath };
});

let server: TemporalServer;
let serverFolder: string;
let stage: Stage;

beforeEach(async () => {
  serverFolder = await freshFolder();
  server = await embeddedServer({ folder: serverFolder, say: () => undefined });
});
afterEach(async () => {
  await stage.close();
  await server.stop();
});

async function openEncrypted(): Promise<EncryptedStage> {
  const encrypted = await openEncryptedStage({ address: server.address, workers: ['a', 'b'] });
  stage = encrypted;
  return encrypted;
}

async function ask(conductor: ConductorClient): Promise<SolveResult> {
  const question = `Where is the ${QUESTION}?`;
  const { id, result } = await conductor.start({ question }, undefined, { memo: { word: MEMO } });
  expect((await conductor.attach(id)).memo).toEqual({ word: MEMO });
  return result();
}

function solve(encrypted: EncryptedStage): Promise<SolveResult> {
  return encrypted.whileWorkingWith(keys, () => ask(encrypted.conductorWith(keys)), { workflowBundle });
}

/** Returns the words that can be read in a file of this folder, or in its name. */
async function readableIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const contents = await Promise.all(
    files.map(async (file) => Buffer.concat([Buffer.from(file), await readFile(file)])),
  );
  return WORDS.filter((word) => contents.some((content) => content.includes(word)));
}

/** Scripts a run with everything: a refusal that is retried, a short and a long output, and a step that fails. */
function stageEverything(stage: Stage): void {
  const { providers } = stage;
  stage.plan([step('a', `Say it, ${SUBTASK}.`), step('a', 'Say more.', [0]), step('b', 'Fail.', [1])]);
  providers.script('a', [
    { fault: 'rate-limited', retryAfter: { ms: 1, as: 'milliseconds' }, message: `${FAILURE}: slow down` },
    String(OUTPUT),
    LONG,
  ]);
  providers.answer('b', { fault: 'bad-request', message: `${FAILURE}: no such thing` });
}

test('nothing of a run is readable in the database or the store, and its trace is complete with the key', async () => {
  const stage = await openEncrypted();
  stageEverything(stage);
  const result = await solve(stage);

  expect(await readableIn(serverFolder)).toEqual([]);
  expect(await readableIn(stage.folder)).toEqual([]);

  expect(result).toMatchObject({ status: 'completed', question: `Where is the ${QUESTION}?` });
  expect(result.answer === LONG).toBe(true);
  const steps = result.rounds[0]?.steps ?? [];
  expect(steps.map(({ output }) => output?.length)).toEqual([OUTPUT?.length, LONG.length, 0]);
  expect(steps[2]?.error?.message).toContain(FAILURE);
  expect(result.rounds[0]?.plan?.steps[0]?.subtask).toContain(SUBTASK);
  expect(await stage.storeWith(keys).list('ledger/')).toHaveLength(result.calls.length);

  const { runs } = await stage.client.list({ known: [result.id] });
  expect(runs).toMatchObject([{ id: result.id, status: 'completed', question: null }]);
});

test('nothing of a failed run is readable either, and its reasons are readable with the key', async () => {
  const stage = await openEncrypted();
  stage.plan([step('b', `Try, ${SUBTASK}.`)]);
  stage.providers.answer('b', { fault: 'bad-request', message: `${FAILURE}: no such thing` });
  const result = await solve(stage);

  expect(await readableIn(serverFolder)).toEqual([]);
  expect(await readableIn(stage.folder)).toEqual([]);
  expect(result).toMatchObject({ status: 'failed', answer: null });
  expect(result.error?.message).toContain(FAILURE);
});

test('without encryption, the same search finds every word', async () => {
  stage = await openStage({ address: server.address, workers: ['a', 'b'] });
  stageEverything(stage);
  await stage.whileWorking(() => ask(stage.client));
  expect(await readableIn(serverFolder)).toEqual(WORDS);
  expect(await readableIn(stage.folder)).toContain(LONG_OUTPUT);
});
