import { undoAll } from './global-setup';

/** Stops the server and removes the files of the set-up. */
export default async function globalTeardown(): Promise<void> {
  await undoAll();
}
