import { Client } from '@temporalio/client';
import { questionsOf } from '../../examples/evaluate/world';
import { ConductorClient } from '../../src';
import { TrainingClient } from '../../src/training';
import { openEvaluation } from '../evaluation/open-evaluation';
import { startImpatientServer } from '../support/impatient-server';
import { openScriptedTraining } from '../support/scripted-training';
import { openStage, type Stage } from '../support/stage';
import type { EvaluationShape } from './evaluations/shapes';
import { TRAIN_RUN } from './nights/plays';
import type { NightShape } from './nights/shapes';
import { briefHistory, plainHistory } from './plain-history';
import { configureShapes, questionOf, type Shape } from './shapes';

/** Runs a shape and returns the history to keep. */
export async function recordRun(name: string, shape: Shape): Promise<string> {
  const stage = await openStage({
    configure: (config) => {
      const shared = configureShapes(config);
      return shape.configure?.(shared) ?? shared;
    },
  });
  return record(stage, async (client) => {
    const conductor = new ConductorClient({ client, store: stage.store, taskQueue: stage.taskQueue });
    shape.prepare(stage);
    const letGo = shape.held === undefined ? () => undefined : stage.providers.hold(shape.held);
    const question = questionOf(name);
    const last = { role: 'user', content: question } as const;
    const asked = shape.turns === undefined ? { question } : { messages: [...shape.turns, last] };
    const run = await conductor.start({ ...shape.request, ...asked }, name);
    await shape.meanwhile?.(
      { ...stage, client: conductor, temporal: { ...stage.temporal, client } },
      run,
      letGo,
    );
    await client.workflow
      .getHandle(run.id)
      .result()
      .catch(() => undefined);
    return plainHistory(client.workflow.getHandle(`${run.id}${shape.child ?? ''}`));
  });
}

export function recordNight({ longHistory, play, ...options }: NightShape): Promise<string> {
  return onServer(longHistory, async (address) => {
    const stage = await openScriptedTraining({ ...options, trainRun: TRAIN_RUN, address });
    return record(stage, async (client) => {
      const training = new TrainingClient({ client, taskQueue: stage.taskQueue });
      return briefHistory(await play({ ...stage, temporal: { ...stage.temporal, client }, training }));
    });
  });
}

export function recordEvaluation(name: string, shape: EvaluationShape): Promise<string> {
  const { questions, methods, changes, ofQuestion = false, longHistory } = shape;
  return onServer(longHistory, async (address) => {
    const stage = await openEvaluation(questionsOf(questions), { address });
    return record(stage, async (client) => {
      const input = await stage.inputOf(`eval-${name}`, methods, changes);
      await stage.run(input, client);
      return briefHistory(client.workflow.getHandle(`${input.id}${ofQuestion ? '-1' : ''}`));
    });
  });
}

/** Works on a server that suggests continuing as new after that many events; without a number, on the usual one. */
async function onServer<T>(
  longHistory: number | undefined,
  work: (address: string | undefined) => Promise<T>,
): Promise<T> {
  if (longHistory === undefined) return work(undefined);
  const server = await startImpatientServer(longHistory);
  try {
    return await work(server.address);
  } finally {
    await server.stop();
  }
}

/** Sets fixed identities: the default ones would put the machine's name into the history. */
async function record(
  stage: Pick<Stage, 'temporal' | 'whileWorking' | 'close'>,
  work: (client: Client) => Promise<string>,
): Promise<string> {
  const client = new Client({ connection: stage.temporal.client.connection, identity: 'client' });
  try {
    return await stage.whileWorking(() => work(client), { identity: 'worker' });
  } finally {
    await stage.close();
  }
}
