import { renderPlan } from '../../src';
import { checkVersions } from '../../src/cli/setup/check-versions';
import { readVersions } from '../../src/client';
import { readGivenConfig } from '../../src/config/load';
import { buildOf, promote } from '../support/deployments';
import { type ImpatientServer, startDrainingServer } from '../support/impatient-server';
import { TEST_KEY } from '../support/search-for-secrets';
import { openStage, type Stage, step } from '../support/stage';
import { until } from '../support/until';
import { type RunningCommand, startCommand } from './command';
import { type Folder, makeFolder } from './folder';

const DEPLOYMENT = 'conductor';

interface Setting {
  readonly server: ImpatientServer;
  readonly stage: Stage;
  readonly folder: Folder;
}

/**
 * Runs solves over the promotion of a second build, half of them under way at that time, with a queue for each provider
 * and a kill of the first build's worker in between. Each run must end on the build that it began on.
 */
export async function solveOverPromotion(solves: number): Promise<void> {
  const server = await startDrainingServer();
  const stage = await openStage({
    address: server.address,
    workers: ['a'],
    config: { temporal: { queuePerProvider: true, heartbeat: '5s' } },
  });
  const folder = await makeFolder();
  const started: RunningCommand[] = [];
  try {
    await folder.write('conductor.yaml', configOf(stage));
    await follow({ server, stage, folder }, solves, started);
  } finally {
    await Promise.all(started.map((worker) => worker.end('SIGTERM')));
    await stage.close();
    await folder.remove();
    await server.stop();
  }
}

async function follow(setting: Setting, solves: number, started: RunningCommand[]): Promise<void> {
  const { stage } = setting;
  const { client } = stage.temporal;
  const start = async (buildId: string): Promise<RunningCommand> => {
    const worker = startWorker(setting, buildId);
    started.push(worker);
    await worker.hear(/^Ready/m);
    return worker;
  };
  stage.providers.answer('conductor', renderPlan({ steps: [step('a', 'Say it.')] }, ['a']));
  const first = await start('b1');
  await promote(client, { deploymentName: DEPLOYMENT, buildId: 'b1' });
  const release = stage.providers.hold('a');
  const before = await startSolves(stage, Math.floor(solves / 2));
  await stage.providers.waitForLog(
    (log) => log.filter(({ model }) => model === 'a').length === before.length,
  );

  await first.end('SIGKILL');
  const [again, second] = [await start('b1'), await start('b2')];
  await until(
    () => readVersions(client, DEPLOYMENT),
    (versions) =>
      ['b1', 'b2'].every((build) => versions.find(({ buildId }) => buildId === build)?.queues.length === 3),
  );
  await promote(client, { deploymentName: DEPLOYMENT, buildId: 'b2' });
  const after = await startSolves(stage, solves - before.length);
  release();
  const runs = [...before, ...after];
  await Promise.all(runs.map((id) => client.workflow.getHandle(id).result()));

  expect(new Set(await Promise.all(before.map((id) => buildOf(client, id))))).toEqual(new Set(['b1']));
  expect(new Set(await Promise.all(after.map((id) => buildOf(client, id))))).toEqual(new Set(['b2']));
  expect(await workersOf(stage, before)).toEqual(new Set([first.pid, again.pid]));
  expect(await workersOf(stage, after)).toEqual(new Set([second.pid]));

  // What has drained is read no more: nothing keeps its workers.
  await until(
    () => readVersions(client, DEPLOYMENT),
    (versions) => versions.every(({ buildId }) => buildId === 'b2'),
  );
  const looked = await checkVersions(client, readGivenConfig(configOf(stage)), {});
  expect(looked).toEqual([{ state: 'fine', text: 'version b2 of conductor is current' }]);
}

function configOf({ config, taskQueue }: Stage) {
  return { ...config, temporal: { ...config.temporal, taskQueue } };
}

function startWorker({ server, folder }: Setting, buildId: string): RunningCommand {
  return startCommand(['worker', '--trust'], {
    cwd: folder.path,
    env: {
      TEMPORAL_ADDRESS: server.address,
      STAGE_KEY: TEST_KEY,
      TEMPORAL_DEPLOYMENT_NAME: DEPLOYMENT,
      TEMPORAL_WORKER_BUILD_ID: buildId,
    },
  });
}

async function startSolves({ client }: Stage, count: number): Promise<string[]> {
  const asked = Array.from({ length: count }, (_, index) => client.start({ question: `Question ${index}?` }));
  return (await Promise.all(asked)).map(({ id }) => id);
}

/** Returns the processes of the workers that took tasks and calls of these runs. */
async function workersOf({ temporal }: Stage, ids: readonly string[]): Promise<Set<number>> {
  const histories = await Promise.all(ids.map((id) => temporal.client.workflow.getHandle(id).fetchHistory()));
  const events = histories.flatMap((history) => history.events ?? []);
  const identities = events.flatMap(
    ({ workflowTaskStartedEventAttributes: task, activityTaskStartedEventAttributes: call }) =>
      task?.identity ?? call?.identity ?? [],
  );
  return new Set(identities.map((identity) => Number.parseInt(identity, 10)));
}
