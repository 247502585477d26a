import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';

const WORKFLOW = fileURLToPath(new URL('programs/bare-workflow.cjs', import.meta.url));

/**
 * Runs calls as activities of a minimal workflow: a fixed plan, without store, ledger, limits or trace. This
 * is Temporal's own minimum cost, measured with the settings of a solve's worker.
 */
export async function openBare({ connection, client }, name, activities, workflow = 'fourCalls') {
  const taskQueue = `bench-${name}`;
  const logger = new DefaultLogger('ERROR');
  const worker = await Worker.create({
    connection,
    taskQueue,
    workflowBundle: await bundleWorkflowCode({ workflowsPath: WORKFLOW, logger }),
    stickyQueueScheduleToStartTimeout: '2s',
    activities,
  });
  const running = worker.run();
  return {
    run: () => client.workflow.execute(workflow, { taskQueue, workflowId: `bare-${randomUUID()}` }),
    close: async () => {
      worker.shutdown();
      await running;
    },
  };
}
