import { connect, testTaskQueue, type TestTemporal } from '../support/temporal';
import { runCommand } from './command';
import { makeFolder, poolAt, type Folder } from './folder';

describe('solve --priority and --tenant', () => {
  let temporal: TestTemporal;
  let folder: Folder;
  beforeAll(async () => {
    [temporal, folder] = await Promise.all([connect(), makeFolder()]);
  });
  afterAll(async () => {
    await Promise.all([temporal.close(), folder.remove()]);
  });

  test('start a run with these keys', async () => {
    const pool = poolAt('http://127.0.0.1:9', { temporal: { taskQueue: testTaskQueue() } });
    await folder.write('conductor.yaml', pool);
    const { code, stdout } = await runCommand(
      ['solve', 'Later?', '--detach', '--priority', '5', '--tenant', 'night'],
      { cwd: folder.path, env: { TEMPORAL_ADDRESS: temporal.address } },
    );

    expect(code).toBe(0);
    const run = temporal.client.workflow.getHandle(stdout.trim());
    const { raw } = await run.describe();
    expect(raw.workflowExecutionInfo?.priority).toMatchObject({ priorityKey: 5, fairnessKey: 'night' });
    await run.terminate();
  });
});
