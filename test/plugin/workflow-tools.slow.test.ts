import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import type { SolveResult } from '../../src';
import { toolCallsOf } from '../../src/trace/tool-calls';
import { freshFolder } from '../local/fresh-folder';
import { openStage, type Stage, step } from '../support/stage';
import { testTaskQueue } from '../support/temporal';
import { endOf, until } from '../support/until';

/** Bundle as a user builds it, with workflows of the user's own. */
let workflowBundle: { readonly codePath: string };
beforeAll(async () => {
  workflowBundle = { codePath: join(await freshFolder(), 'workflows.js') };
  const workflowsPath = require.resolve('./tool-workflows');
  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
  await writeFile(workflowBundle.codePath, code);
});

let stage: Stage;
afterEach(() => stage.close());

const TOOLS = { book: 'bookRoom', archive: 'readArchive', refuse: 'refuseRoom', wait: 'waitForRoom' };

describe.each(['its run', 'another'])('a workflow of the user’s as a tool, on the queue of %s', (whose) => {
  let queue: string | undefined;

  /** @param timeout of the tool that waits */
  async function open(timeout = '10m'): Promise<void> {
    queue = whose === 'its run' ? undefined : testTaskQueue();
    const input = { type: 'object' as const, properties: { nights: { type: 'integer' } } };
    const taskQueue = queue === undefined ? {} : { taskQueue: queue };
    const tools = Object.entries(TOOLS).map(([name, type]) => {
      const settings = name === 'wait' ? { timeout, price: { perCall: 0.01 } } : {};
      return [name, { workflow: { type, ...taskQueue }, description: type, input, ...settings }] as const;
    });
    stage = await openStage({
      workers: ['a'],
      config: { tools: Object.fromEntries(tools) },
      configure: (config) => ({
        ...config,
        workers: config.workers.map((worker) => ({ ...worker, tools: Object.keys(TOOLS) })),
      }),
    });
    stage.plan([step('a', 'Find a room.')]);
  }

  async function whileWorking<T>(work: () => Promise<T>): Promise<T> {
    if (queue === undefined) return stage.whileWorking(work, { workflowBundle });
    const connection = stage.temporal.nativeConnection;
    const own = await Worker.create({ connection, taskQueue: queue, workflowBundle });
    return own.runUntil(() => stage.whileWorking(work));
  }

  const call = (name: string) => ({ text: '', calls: [{ name, input: { nights: 2 } }] });
  const callsIn = ({ rounds }: SolveResult) => rounds[0]?.steps.flatMap((each) => toolCallsOf(each));

  test('completes, fails, or returns 200 KB: the model is told each, and a long result is cut', async () => {
    await open();
    stage.providers.script('a', [call('book'), call('refuse'), call('archive'), 'There is one.']);
    const result = await whileWorking(() => stage.client.solve({ question: 'Is there a room?' }));
    expect(result).toMatchObject({ status: 'completed', answer: 'There is one.' });
    expect(callsIn(result)).toMatchObject([
      { outcome: 'ok', output: '{"asked":{"nights":2},"step":0,"turn":0,"ordinal":0}' },
      { outcome: 'error', output: 'The tool failed: the house is full' },
      {
        outcome: 'ok',
        output: expect.stringMatching(
          /^é+\n\[cut: the result has 200000 bytes, and at most 65536 are shown\]$/,
        ) as string,
      },
    ]);
  });

  test('that gives no result in time has an unknown outcome, which costs its price', async () => {
    await open('1s');
    stage.providers.script('a', [call('wait'), 'Perhaps.']);
    const result = await whileWorking(() => stage.client.solve({ question: 'Is there a room?' }));
    expect(result).toMatchObject({ status: 'completed', answer: 'Perhaps.' });
    expect(callsIn(result)).toMatchObject([
      { outcome: 'unknown', output: expect.stringContaining('outcome of this call is unknown') as string },
    ]);
    expect(result.calls.filter(({ purpose }) => purpose === 'tool')).toMatchObject([{ nanoUsd: 10_000_000 }]);
  });

  test('is cancelled with its run, which waits for its end', async () => {
    await open();
    stage.providers.script('a', [call('wait')]);
    await whileWorking(async () => {
      const { id } = await stage.client.start({ question: 'Is there a room?' });
      const { workflow } = stage.temporal.client;
      const [child] = await until(
        async () => (await workflow.getHandle(id).describe()).raw.pendingChildren ?? [],
        (children) => children.length === 1,
      );
      await stage.client.cancel(id);
      const result = await endOf(stage, id);
      expect(result.status).toBe('cancelled');
      const [run, tool] = await Promise.all(
        [id, child?.workflowId ?? ''].map((each) => workflow.getHandle(each).describe()),
      );
      expect(tool?.status.name).toBe('CANCELLED');
      expect(tool?.closeTime?.getTime()).toBeLessThanOrEqual(run?.closeTime?.getTime() ?? 0);
      expect(await stage.rows(id)).toMatchObject([
        {},
        {},
        { purpose: 'tool', model: 'wait', nanoUsd: 10_000_000, endedAt: expect.any(String) as string },
      ]);
    });
  });
});
