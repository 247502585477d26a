import { type Logger, Worker } from '@temporalio/worker';
import type { CompiledWorkerOptions } from '@temporalio/worker/lib/worker-options';
import type {
  Workflow,
  WorkflowCreateOptions,
  WorkflowCreator,
} from '@temporalio/worker/lib/workflow/interface';
import type { WorkflowBundleWithSourceMapAndFilename } from '@temporalio/worker/lib/workflow/workflow-worker-thread/input';
import { atTheEnd } from './at-the-end';

/** Threads that a worker has left, by what they can run. */
const left = new Map<string, KeptThread[]>();
let hasEnded = false;

// A thread would outlive the tests.
atTheEnd(async () => {
  hasEnded = true;
  await Promise.all([...left.values()].flat().map((thread) => thread.end()));
});

type Bundle = WorkflowBundleWithSourceMapAndFilename;

/**
 * A worker that takes over the workflow thread of an ended worker of the same test file, if there is one: to start a thread
 * and load the workflows takes longer than a solve. Each thread belongs to one worker at a time.
 */
export class TestWorker extends Worker {
  private static readonly bundles = new Map<string, Promise<Bundle | undefined>>();

  static override async createWorkflowCreator(
    bundle: Bundle,
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<WorkflowCreator> {
    const { activities, isolateExecutionTimeoutMs, reuseV8Context } = options;
    const key = JSON.stringify([
      bundle.filename,
      isolateExecutionTimeoutMs,
      reuseV8Context,
      ...activities.keys(),
    ]);
    const threads = left.get(key) ?? [];
    left.set(key, threads);
    return (
      threads.pop() ?? new KeptThread(await super.createWorkflowCreator(bundle, options, logger), threads)
    );
  }

  static override getOrCreateBundle(
    options: CompiledWorkerOptions,
    logger: Logger,
  ): Promise<Bundle | undefined> {
    const { workflowBundle } = options;
    if (workflowBundle === undefined || !('codePath' in workflowBundle))
      return super.getOrCreateBundle(options, logger);
    const { codePath } = workflowBundle;
    const bundle = TestWorker.bundles.get(codePath) ?? super.getOrCreateBundle(options, logger);
    TestWorker.bundles.set(codePath, bundle);
    return bundle;
  }
}

/** A workflow thread that its worker's end does not end. */
class KeptThread implements WorkflowCreator {
  private readonly running = new Set<Workflow>();

  constructor(
    private readonly thread: WorkflowCreator,
    private readonly shelf: KeptThread[],
  ) {}

  async createWorkflow(options: WorkflowCreateOptions): Promise<Workflow> {
    const workflow = await this.thread.createWorkflow(options);
    const { running } = this;
    running.add(workflow);
    return {
      activate: (activation) => workflow.activate(activation),
      getAndResetSinkCalls: () => workflow.getAndResetSinkCalls(),
      dispose: async () => {
        running.delete(workflow);
        await workflow.dispose();
      },
    };
  }

  async destroy(): Promise<void> {
    // A worker that ends does not dispose of the runs in its cache.
    const forgotten = [...this.running];
    this.running.clear();
    await Promise.all(forgotten.map((workflow) => workflow.dispose()));
    if (hasEnded) await this.end();
    else this.shelf.push(this);
  }

  end(): Promise<void> {
    return this.thread.destroy();
  }
}
