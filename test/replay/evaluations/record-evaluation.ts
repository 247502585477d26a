import { Client } from '@temporalio/client';
import { questionsOf } from '../../../examples/evaluate/world';
import { openEvaluation } from '../../evaluation/open-evaluation';
import { startImpatientServer } from '../../support/impatient-server';
import { briefHistory } from '../plain-history';
import type { EvaluationShape } from './shapes';

/** Lets an evaluation go as its shape says, and returns the history that is kept of it. */
export async function recordEvaluation(name: string, shape: EvaluationShape): Promise<string> {
  const { questions, methods, changes, ofQuestion = false, longHistory } = shape;
  const server = longHistory === undefined ? undefined : await startImpatientServer(longHistory);
  const stage = await openEvaluation(questionsOf(questions), server && { address: server.address });
  try {
    const input = await stage.inputOf(`eval-${name}`, methods, changes);
    // Hides the machine's name, which would be part of the history.
    const client = new Client({ connection: stage.temporal.client.connection, identity: 'client' });
    return await stage.whileWorking(
      async () => {
        await stage.run(input, client);
        return briefHistory(client.workflow.getHandle(`${input.id}${ofQuestion ? '-1' : ''}`));
      },
      { identity: 'worker' },
    );
  } finally {
    await stage.close();
    await server?.stop();
  }
}
