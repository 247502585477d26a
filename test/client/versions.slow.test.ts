import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { WorkerOptions } from '@temporalio/worker';
import { checkVersions } from '../../src/cli/setup/check-versions';
import type { Looked } from '../../src/cli/kit/finding';
import { ConductorPlugin, type ConfigInput } from '../../src';
import { readVersions } from '../../src/client';
import { readGivenConfig } from '../../src/config/load';
import { workerIdentity } from '../../src/runtime/worker-identity';
import { openGateway } from '../support/gateway';
import { buildOf, promote } from '../support/deployments';
import { step, useStage } from '../support/stage';
import { TestWorker } from '../support/test-worker';
import { workflowBundle } from '../support/temporal';
import { until } from '../support/until';

const stage = useStage({ workers: ['a'], config: { temporal: { queuePerProvider: true, heartbeat: '5s' } } });

/** A worker of one build, and of its provider's queue unless it is `alone`. */
async function withBuild<T>(
  version: { readonly deploymentName: string; readonly buildId: string },
  { isGone = false, alone = false },
  work: () => Promise<T>,
): Promise<T> {
  // A worker whose identity is that of a process that has ended counts as gone.
  const own = workerIdentity();
  const gone = own.replace(String(process.pid), String(spawnSync('true').pid));
  const options: WorkerOptions = {
    connection: stage.temporal.nativeConnection,
    taskQueue: stage.taskQueue,
    identity: isGone ? gone : own,
    workflowBundle: workflowBundle(),
    workerDeploymentOptions: { version, useWorkerVersioning: true, defaultVersioningBehavior: 'PINNED' },
    plugins: [alone ? pluginWithOneQueue() : stage.plugin()],
  };
  return (await TestWorker.create(options)).runUntil(work);
}

function pluginWithOneQueue(): ConductorPlugin {
  const { config, store } = stage;
  return new ConductorPlugin({ config: { ...config, temporal: {} } as ConfigInput, store });
}

function look(env: NodeJS.ProcessEnv = {}): Promise<Looked[]> {
  const { config, taskQueue, temporal } = stage;
  const settings = readGivenConfig({ ...config, temporal: { ...config.temporal, taskQueue } });
  return checkVersions(temporal.client, settings, env);
}

const untilFound = (words: RegExp): Promise<Looked[]> =>
  until(look, (found) => found.some(({ text }) => words.test(text)));

/** Waits until the server knows these queues of a version. */
async function untilPolled(deploymentName: string, buildId: string, queues: number): Promise<void> {
  await until(
    () => readVersions(stage.temporal.client, deploymentName),
    (versions) => versions.some((version) => version.buildId === buildId && version.queues.length === queues),
  );
}

test('nothing is said of workers without versions', async () => {
  await stage.whileWorking(async () => {
    expect(await look()).toEqual([]);
  });
});

test('what would keep runs of versioned workers waiting is found, with the command that helps', async () => {
  const { client } = stage.temporal;
  const deploymentName = `it's-${randomUUID()}`;
  const [b1, b2] = ['b1', 'b2'].map((buildId) => ({ deploymentName, buildId }));
  if (b1 === undefined || b2 === undefined) throw new Error('there are two');
  const named = `--deployment-name 'it'\\''s-${deploymentName.slice("it's-".length)}' --build-id`;
  const side = `${stage.taskQueue}-openai`;

  await withBuild(b1, {}, async () => {
    // The plugin's worker for the provider's queue has the version of the worker that it is mounted on.
    await untilPolled(deploymentName, 'b1', 3);
    expect(await look()).toEqual([
      {
        state: 'broken',
        text: `new runs wait: every worker that polls task queue ${stage.taskQueue} has a version, and none is current; make one current: temporal worker deployment set-current-version ${named} b1`,
      },
    ]);
    const gateway = await openGateway(stage);
    const body = { model: 'worker/a', messages: [{ role: 'user', content: 'Who?' }] };
    const refused = await gateway.ask('POST', '/v1/chat/completions', body);
    expect(refused.status).toBe(503);
    expect(JSON.stringify(refused.body)).toContain('new runs wait');
    await gateway.close();

    await promote(client, b1);
    await untilFound(/^version b1 of .* is current$/);
    stage.plan([step('a', 'Say it.')]);
    const release = stage.providers.hold('a');
    const { id } = await stage.client.start({ question: 'Who stays?' });
    await stage.providers.waitForRequest(({ model }) => model === 'a');

    await withBuild(b2, { alone: true }, async () => {
      await untilPolled(deploymentName, 'b2', 2);
      expect(await untilFound(/must not follow yet/)).toEqual([
        { state: 'fine', text: `version b1 of ${deploymentName} is current` },
        {
          state: 'note',
          text: expect.stringContaining(
            `none of its workers polls ${side}, as those of the current one do`,
          ) as string,
        },
      ]);
    });
    await withBuild(b2, {}, async () => {
      await untilFound(/may follow: .* --build-id b2$/);
      await promote(client, b2);
      await untilFound(/^version b2 of .* is current$/);
      release();
      await client.workflow.getHandle(id).result();
    });
    expect(await buildOf(client, id)).toBe('b1');
  });
});

test('a version with open runs whose workers are gone is found, and so is a current one', async () => {
  const { client } = stage.temporal;
  const deploymentName = `gone-${randomUUID()}`;
  const [b1, b2] = [
    { deploymentName, buildId: 'b1' },
    { deploymentName, buildId: 'b2' },
  ] as const;
  await withBuild(b1, { isGone: true }, async () => {
    await untilPolled(deploymentName, 'b1', 3);
    await promote(client, b1);
    stage.plan([step('a', 'Say it.')]);
    const release = stage.providers.hold('a');
    const { id } = await stage.client.start({ question: 'Who is stranded?' });
    await stage.providers.waitForRequest(({ model }) => model === 'a');
    const found = await until(
      () => look({ TEMPORAL_DEPLOYMENT_NAME: deploymentName }),
      (looked) => looked.some(({ text }) => text.includes('open run')),
    );
    expect(found).toContainEqual({
      state: 'broken',
      text: expect.stringMatching(
        /no worker of version b1 .* polls .*, and 1 open run of it would wait/,
      ) as string,
    });
    expect(found.map(({ text }) => text).join()).toContain(
      `describe-version --deployment-name ${deploymentName}`,
    );

    await withBuild(b2, {}, async () => {
      await untilPolled(deploymentName, 'b2', 3);
      // New runs go to the version whose workers are gone.
      expect(await untilFound(/^new runs go on version b1/)).toContainEqual({
        state: 'broken',
        text: expect.stringContaining(
          `TEMPORAL_DEPLOYMENT_NAME=${deploymentName} TEMPORAL_WORKER_BUILD_ID=b1`,
        ) as string,
      });
      // The other version's worker polls its queue, and will not take it.
      const { runs } = await stage.client.list({ taskQueue: stage.taskQueue, known: [id] });
      expect(runs).toMatchObject([{ id, status: 'running', hasWorker: false }]);
      release();
      await client.workflow.getHandle(id).result();
    });
  });
});
