import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { configuredServer } from '../../src/local/configured-server';
import { embeddedServer } from '../../src/local/embedded-server';
import { bundleWorkflows } from '../../examples/learn/support/bundle-workflows';

type Undo = () => Promise<void>;

/** jest loads set-up and tear-down apart from each other: only the global object is theirs together. */
declare global {
  var undoAfterTests: Undo[] | undefined;
}

/** One server and one workflow bundle for the whole jest run; `temporal.ts` hands them to the tests. */
export default async function globalSetup(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'conductor-test-'));
  atTheEnd(() => rm(folder, { recursive: true, force: true }));
  // Keeps what commands remember of a user apart from whoever runs the tests.
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

/** Remembers what the set-up did, to be undone after the last test. */
function atTheEnd(undo: Undo): void {
  globalThis.undoAfterTests = [undo, ...(globalThis.undoAfterTests ?? [])];
}

/** Undoes all of it, the latest first. */
export async function undoAll(): Promise<void> {
  for (const undo of globalThis.undoAfterTests ?? []) await undo();
}
