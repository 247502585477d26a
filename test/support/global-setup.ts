import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configuredServer } from '../../src/local/configured-server';
import { embeddedServer } from '../../src/local/embedded-server';
import { bundleWorkflows } from '../../research/support/bundle-workflows';

type Undo = () => Promise<void>;

/** jest loads set-up and tear-down separately: they share only the global object. */
declare global {
  var undoAfterTests: Undo[] | undefined;
}

/** Starts one server and builds one workflow bundle for the whole jest run; `temporal.ts` hands them to the tests. */
export default async function globalSetup(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conductor-test-'));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  // Keeps the commands' per-user state apart from that of the user who runs the tests.
  process.env.XDG_STATE_HOME = join(folder, 'state');
  const starting = startServer(folder);
  try {
    const [bundle] = await Promise.all([bundleWorkflows(folder), starting]);
    process.env.TEST_WORKFLOW_BUNDLE = bundle;
  } catch (error) {
    // jest then ends without the tear-down, and the server would outlive it.
    await starting.catch(() => undefined);
    await undoAll();
    throw error;
  }
}

async function startServer(folder: string): Promise<void> {
  const options = { folder, say: console.error };
  const server = (await configuredServer('default')) ?? (await embeddedServer(options));
  atTheEnd(() => server.stop());
  process.env.TEST_TEMPORAL_ADDRESS = server.address;
}

/** Registers a function that undoes a part of the set-up after the last test. */
function atTheEnd(undo: Undo): void {
  globalThis.undoAfterTests = [undo, ...(globalThis.undoAfterTests ?? [])];
}

/** Undoes the whole set-up, latest part first. */
export async function undoAll(): Promise<void> {
  for (const undo of globalThis.undoAfterTests ?? []) await undo();
}
