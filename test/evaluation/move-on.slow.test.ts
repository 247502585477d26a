import { randomUUID } from 'node:crypto';
import { questionsOf } from '../../examples/evaluate/world';
import { EVALUATE_WORKFLOW } from '../../src/evaluation/definitions';
import { promote } from '../support/deployments';
import { useOnce } from '../support/use';
import { until } from '../support/until';
import { openEvaluation } from './open-evaluation';

const stage = useOnce(() => openEvaluation(questionsOf(6)));

test('a pinned evaluation moves on to the current version after the questions under way, and repeats none', async () => {
  const { client } = stage.temporal;
  const deploymentName = `evaluation-${randomUUID()}`;
  const versioned = (buildId: string) => ({
    workerDeploymentOptions: {
      version: { deploymentName, buildId },
      useWorkerVersioning: true,
      defaultVersioningBehavior: 'PINNED',
    } as const,
  });
  const input = await stage.inputOf(`eval-${randomUUID()}`, ['workers'], { window: 1 });
  const end = await stage.whileWorking(async () => {
    await promote(client, { deploymentName, buildId: 'b1' });
    const [first] = input.workers;
    const release = stage.providers.hold(first ?? '');
    const begun = await client.workflow.start(EVALUATE_WORKFLOW, {
      workflowId: input.id,
      taskQueue: stage.taskQueue,
      args: [input],
    });
    await stage.providers.waitForRequest(({ model }) => model === first);
    return stage.whileWorking(async () => {
      await promote(client, { deploymentName, buildId: 'b2' });
      release();
      return begun.result() as Promise<object>;
    }, versioned('b2'));
  }, versioned('b1'));

  expect(end).toMatchObject({ done: 6, begun: 6, stoppedBy: null });
  const runs: (string | null | undefined)[] = [];
  await until(
    async () => {
      runs.length = 0;
      for await (const { runId } of client.workflow.list({ query: `WorkflowId = '${input.id}'` })) {
        const { raw } = await client.workflow.getHandle(input.id, runId).describe();
        runs.unshift(raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId);
      }
      return runs.length;
    },
    (count) => count === 2,
  );
  expect(runs).toEqual(['b1', 'b2']);
  const asked = stage.providers.log.filter(({ outcome }) => outcome === 'answered').length;
  expect(asked).toBe(input.workers.length * input.questions);
});
