/** `npm run histories`: runs every shape against a server of its own, and keeps the histories for the replay test. */
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
    for (const [name, shape] of Object.entries(SHAPES)) {
      const history = await record(name, shape);
      await writeFile(join(__dirname, 'histories', `${name}.json`), history);
      console.log(name);
    }
  } finally {
    await globalTeardown();
  }
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
  const run = await conductor.start({ question: `How does a run go that is ${name}?` }, name);
  await shape.meanwhile?.({ ...stage, client: conductor }, run);
  const handle = client.workflow.getHandle(run.id);
  await handle.result().catch(() => undefined);
  return withoutStackTraces(await handle.fetchHistory());
}

/** Stack traces hold the paths of the machine that recorded them; a replay does not look at them. */
function withoutStackTraces(history: History): string {
  const plain: unknown = JSON.parse(historyToJSON(history), (key, value: unknown) =>
    key === 'stackTrace' ? '' : value,
  );
  return `${JSON.stringify(plain, null, 1)}\n`;
}

void recordAll();
