import { Client } from '@temporalio/client';
import { ConductorClient } from '../../src';
import { openStage, type Stage } from '../support/stage';
import { plainHistory } from './plain-history';
import { configureShapes, questionOf, type Shape } from './shapes';

/** Lets a run go as its shape says, and returns the history that is kept of it. */
export async function recordRun(name: string, shape: Shape): Promise<string> {
  const stage = await openStage({ configure: configureShapes });
  try {
    return await stage.whileWorking(() => runToItsEnd(stage, name, shape), { identity: 'worker' });
  } finally {
    await stage.close();
  }
}

async function runToItsEnd(stage: Stage, name: string, shape: Shape): Promise<string> {
  // Hides the machine's name, which would be part of the history.
  const client = new Client({ connection: stage.temporal.client.connection, identity: 'client' });
  const conductor = new ConductorClient({ client, store: stage.store, taskQueue: stage.taskQueue });
  shape.prepare(stage);
  const letGo = shape.held === undefined ? () => undefined : stage.providers.hold(shape.held);
  const question = questionOf(name);
  const run = await conductor.start({ ...shape.request, question }, name);
  await shape.meanwhile?.({ ...stage, client: conductor }, run, letGo);
  await client.workflow
    .getHandle(run.id)
    .result()
    .catch(() => undefined);
  return plainHistory(client.workflow.getHandle(`${run.id}${shape.child ?? ''}`));
}
