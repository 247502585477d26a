import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { runProgram } from '../../research/support/programs';
import { isPolled } from '../../src/client';
import { hasEnded, workerIdentity } from '../../src/runtime/worker-identity';
import { startWorkerProcess } from '../durability/worker-process';
import { useStage } from '../support/stage';
import { until } from '../support/until';

const HOUR_MS = 3_600_000;
const IN_OTHER_NAMESPACE = ['--pid', '--fork', '--mount-proc'];
const cannotUnshare = spawnSync('unshare', [...IN_OTHER_NAMESPACE, 'true']).status !== 0;

describe('isPolled', () => {
  const stage = useStage();
  const look = (): Promise<boolean> => isPolled(stage.temporal.client, stage.taskQueue);

  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('sees a worker however far this clock is from the server’s', async () => {
    await stage.whileWorking(async () => {
      await until(look, (isSeen) => isSeen);
      const now = Date.now.bind(Date);
      for (const offMs of [2 * HOUR_MS, -2 * HOUR_MS]) {
        jest.spyOn(Date, 'now').mockImplementation(() => now() + offMs);
        expect(await look()).toBe(true);
      }
    });
  });

  it('sees that a worker of this machine was killed', async () => {
    const worker = await startWorkerProcess(stage);
    await until(look, (isSeen) => isSeen);
    await worker.kill();
    expect(await look()).toBe(false);
  });

  const itUnshares = cannotUnshare ? it.skip : it;
  // Skipped where a process may not have a PID namespace of its own.
  itUnshares('sees a worker of another PID namespace with the same host name', async () => {
    await stage.whileWorking(async () => {
      await until(look, (isSeen) => isSeen);
      const compiler = join(__dirname, '../../scripts/run-typescript.cjs');
      const program = ['--require', compiler, join(__dirname, 'programs/look-for-worker.ts')];
      const asked = [stage.temporal.address, stage.taskQueue];
      const args = [...IN_OTHER_NAMESPACE, process.execPath, ...program, ...asked];
      expect(await runProgram('unshare', args, process.env).nextMessage()).toBe(true);
    });
  });

  it('leaves out pollers that were silent for longer than a poll takes while another polled', async () => {
    const seen = (...ages: readonly number[]): Promise<boolean> => {
      const pollers = ages.map((age, index) => ({
        identity: `worker ${index}`,
        lastAccessTime: { seconds: 1000 - age },
      }));
      const workflowService = { describeTaskQueue: () => Promise.resolve({ pollers }) };
      return isPolled(
        { workflowService, options: {} } as unknown as Client,
        'a queue',
        'workflows',
        'worker 0',
      );
    };
    expect(await seen()).toBe(false);
    expect(await seen(0)).toBe(false);
    expect(await seen(0, 69)).toBe(true);
    expect(await seen(0, 70)).toBe(false);
  });
});

describe('hasEnded', () => {
  const own = workerIdentity();

  it('tells a process from an earlier one with its process id', () => {
    expect(hasEnded(own)).toBe(false);
    expect(hasEnded(own.replace(/\d+$/, '1'))).toBe(true);
  });

  it('claims nothing of another machine, boot or PID namespace, nor of an identity without a mark', () => {
    const { pid } = spawnSync('true');
    const gone = own.replace(String(process.pid), String(pid));
    expect(hasEnded(gone)).toBe(true);
    expect(hasEnded(gone.replace(/#.{12}/, '#0123456789ab'))).toBe(false);
    expect(hasEnded(gone.replace(/#.*$/, ''))).toBe(false);
  });
});
