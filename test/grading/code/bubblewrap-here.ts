import { spawnSync } from 'node:child_process';

export const IS_ROOT = process.getuid?.() === 0;

/** Whether bubblewrap is installed, and may create namespaces. */
export const isThere = canIsolate();

function canIsolate(): boolean {
  const asUser = IS_ROOT ? { uid: 65_534, gid: 65_534 } : {};
  const args = ['--ro-bind', '/', '/', '--unshare-all', '--unshare-user', '--proc', '/proc', 'true'];
  return spawnSync('bwrap', args, { ...asUser, cwd: '/', timeout: 30_000 }).status === 0;
}

/** `describe` for tests that need bubblewrap; without it they are skipped, and stderr says so. */
export const describeInBubblewrap = isThere ? describe : describe.skip;

if (!isThere) {
  process.stderr.write('\nNO PROGRAM IS JUDGED IN A SANDBOX HERE, AND THE TESTS OF THAT ARE LEFT OUT.\n\n');
}
