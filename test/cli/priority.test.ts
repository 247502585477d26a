import { connect, testTaskQueue } from '../support/temporal';
import { poolAt } from './folder';
import { useFolder } from './stage';

const stage = useFolder();

test('solve --priority and --tenant set the priority and fairness keys of the run', async () => {
  const temporal = await connect();
  const pool = poolAt('http://127.0.0.1:9', { temporal: { taskQueue: testTaskQueue() } });
  await stage.folder.write('conductor.yaml', pool);
  const args = ['solve', 'Later?', '--detach', '--priority', '5', '--tenant', 'night'];
  const { code, stdout } = await stage.start(args, { env: { TEMPORAL_ADDRESS: temporal.address } }).ended;
  expect(code).toBe(0);
  const run = temporal.client.workflow.getHandle(stdout.trim());
  const { raw } = await run.describe();
  expect(raw.workflowExecutionInfo?.priority).toMatchObject({ priorityKey: 5, fairnessKey: 'night' });
  await run.terminate();
  await temporal.close();
});
