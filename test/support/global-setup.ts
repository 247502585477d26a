import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker';
import { configuredServer } from '../../src/local/configured-server';
import { embeddedServer } from '../../src/local/embedded-server';
import { atTheEnd } from './at-the-end';

/** One server and one workflow bundle for the whole jest run; `temporal.ts` hands them to the tests. */
export default async function globalSetup(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conductor-test-'));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  await Promise.all([startServer(folder), bundleWorkflows(folder)]);
}

async function startServer(folder: string): Promise<void> {
  const options = { folder, say: console.error };
  const server = (await configuredServer(options)) ?? (await embeddedServer(options));
  atTheEnd(() => server.stop());
  process.env.TEST_TEMPORAL_ADDRESS = server.address;
}

async function bundleWorkflows(folder: string): Promise<void> {
  const { code } = await bundleWorkflowCode({
    workflowsPath: require.resolve('../../src/workflows'),
    logger: new DefaultLogger('ERROR'),
  });
  const path = join(folder, 'workflow-bundle.js');
  await writeFile(path, code);
  process.env.TEST_WORKFLOW_BUNDLE = path;
}
