import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simulateWorld } from '../../../research/world/simulate';
import type { Files } from '../../../src/store/store';
import { SqliteStore } from '../../../src/store/sqlite-store';
import { openFiles } from '../../../src/training/client';
import { TrainingClient } from '../../../src/training';
import { type Lesson, trainingOf, writeLesson } from '../../../research/support/lesson';
import { type PythonProgram, runPython } from '../../../research/support/programs';
import { openStage, type Stage } from '../../support/stage';
import { testTaskQueue } from '../../support/temporal';

/** Everything that a night in a simulated world needs: its own stage, policy server and trainer. */
export interface TrainingStage extends Stage {
  readonly trainRun: string;
  readonly training: TrainingClient;
  /** Folder of the checkpoints for trainer and policy server, with a folder for each training run. */
  readonly checkpoints: string;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
  readonly policyServer: PythonProgram;
  /** Store of batches and checkpoints. */
  readonly artifacts: Files;
  readonly trainer: PythonProgram;
}

/** Lesson whose training run has a name of its own, since all test files share one Temporal server. */
type NamedLesson = Lesson & { readonly training: { readonly run: string } };

export async function openTrainingStage(lesson: NamedLesson): Promise<TrainingStage> {
  const folder = await mkdtemp(join(tmpdir(), 'lesson-'));
  await writeLesson(lesson, folder);
  const { workers, maxSteps } = lesson.world;
  const store = new SqliteStore(join(folder, 'store.db'));
  const checkpoints = join(folder, 'checkpoints');
  const artifacts = openFiles(join(folder, 'artifacts'));
  const places = ['--artifacts', artifacts.url, '--checkpoints', checkpoints];
  const policyServer = await runPython('policy_server', ['--port', '0', ...places]);
  const { url } = policyServer.ready as { readonly url: string };
  const policyUrl = `${url}/v1`;
  const trainerQueue = testTaskQueue();
  const stage = await openStage({
    store,
    workers: workers.map(({ id }) => id),
    simulation: simulateWorld(lesson),
    configure: (config) => ({
      ...config,
      store: store.url,
      limits: { ...config.limits, steps: maxSteps },
      training: trainingOf(lesson, { folder, baseUrl: policyUrl, trainerQueue }),
    }),
  });
  // A lesson may place a proxy before the server.
  const servers = [lesson.training.policy?.baseUrl ?? policyUrl].flat();
  const allowed = ['--task-queue', trainerQueue, '--export-root', tmpdir()];
  for (const server of servers) if (server !== undefined) allowed.push('--allow-server', server);
  const trainer = await runPython('worker', [...places, ...allowed], {
    TEMPORAL_ADDRESS: stage.temporal.address,
  });
  return {
    ...stage,
    trainRun: lesson.training.run,
    training: new TrainingClient({ client: stage.temporal.client, taskQueue: stage.taskQueue }),
    checkpoints,
    artifacts,
    policyUrl,
    policyServer,
    trainer,
    close: async () => {
      await Promise.all([trainer.stop(), policyServer.stop()]);
      await stage.close();
      await rm(folder, { recursive: true });
    },
  };
}
