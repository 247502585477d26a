import { Client } from '@temporalio/client';
import { TrainingClient } from '../../../src/training';
import { startImpatientServer } from '../../support/impatient-server';
import { openScriptedTraining, type ScriptedTraining } from '../../support/scripted-training';
import { briefHistory } from '../plain-history';
import { TRAIN_RUN } from './plays';
import type { NightShape } from './shapes';

/** Plays a shape, and returns the history that is kept of it. */
export async function recordNight({ longHistory, play, ...options }: NightShape): Promise<string> {
  const server = longHistory === undefined ? undefined : await startImpatientServer(longHistory);
  const stage = await openScriptedTraining({
    ...options,
    trainRun: TRAIN_RUN,
    ...(server && { address: server.address }),
  });
  try {
    return await stage.whileWorking(async () => briefHistory(await play(asNobody(stage))), {
      identity: 'worker',
    });
  } finally {
    await stage.close();
    await server?.stop();
  }
}

/** Hides the machine's name, which would be part of the history. */
function asNobody(stage: ScriptedTraining): ScriptedTraining {
  const { connection } = stage.temporal.client;
  const client = new Client({ connection, identity: 'client' });
  return {
    ...stage,
    temporal: { ...stage.temporal, client },
    training: new TrainingClient({ client, taskQueue: stage.taskQueue }),
  };
}
