/**
 * `npm run histories`: runs every shape that has no history yet, or those that are named, against a server of its own
 * and keeps the histories for the replay test. What was recorded stays: that it still replays is the point.
 */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import { historyToJSON, type History } from '@temporalio/common/lib/proto-utils';
import { ConductorClient } from '../../src';
import globalSetup from '../support/global-setup';
import globalTeardown from '../support/global-teardown';
import { openStage, type Stage } from '../support/stage';
import { configureShapes, SHAPES, type Shape } from './shapes';

async function recordAll(): Promise<void> {
  await globalSetup();
  try {
    for (const [name, shape] of Object.entries(SHAPES).filter(isWanted)) {
      await writeFile(fileOf(name), await record(name, shape));
      console.log(name);
    }
  } finally {
    await globalTeardown();
  }
}

function isWanted([name]: readonly [string, Shape]): boolean {
  const named = process.argv.slice(2);
  return named.length === 0 ? !existsSync(fileOf(name)) : named.includes(name);
}

function fileOf(name: string): string {
  return join(__dirname, 'histories', `${name}.json`);
}

async function record(name: string, shape: Shape): Promise<string> {
  const stage = await openStage({ configure: configureShapes });
  try {
    return await stage.whileWorking(() => runToItsEnd(stage, name, shape), { identity: 'worker' });
  } finally {
    await stage.close();
  }
}

async function runToItsEnd(stage: Stage, name: string, shape: Shape): Promise<string> {
  // Who started a run is part of its history, and by default a machine's name.
  const client = new Client({ connection: stage.temporal.client.connection, identity: 'client' });
  const conductor = new ConductorClient({ client, store: stage.store, taskQueue: stage.taskQueue });
  shape.prepare(stage);
  const letGo = shape.held === undefined ? () => undefined : stage.providers.hold(shape.held);
  const question = `How does a run go that is ${name}?`;
  const run = await conductor.start({ ...shape.request, question }, name);
  await shape.meanwhile?.({ ...stage, client: conductor }, run, letGo);
  await client.workflow
    .getHandle(run.id)
    .result()
    .catch(() => undefined);
  const kept = client.workflow.getHandle(`${run.id}${shape.child ?? ''}`);
  return withoutStackTraces(await kept.fetchHistory());
}

/** Stack traces hold the paths of the machine that recorded them; a replay does not look at them. */
function withoutStackTraces(history: History): string {
  const plain: unknown = JSON.parse(historyToJSON(history), (key, value: unknown) =>
    key === 'stackTrace' ? '' : value,
  );
  return `${JSON.stringify(plain, null, 1)}\n`;
}

void recordAll();
