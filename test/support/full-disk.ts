import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A small file system in memory stands for a disk. Only root may mount one, and not in every container.

const DISK_BYTES = 16 * 1024 * 1024;

function mount(folder: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_BYTES}`, 'none', folder]).status === 0;
}

/** Whether this user may mount a file system. */
export const CAN_MOUNT = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'can-mount-'));
  const can = mount(folder);
  if (can) spawnSync('umount', [folder]);
  rmdirSync(folder);
  return can;
})();

/** A folder that is a disk of its own. */
export interface SmallDisk {
  /** Leaves room for so many bytes. */
  readonly fill: (room?: number) => void;
  readonly close: () => void;
}

export function makeDisk(folder: string): SmallDisk {
  mkdirSync(folder);
  if (!mount(folder)) throw new Error(`${folder} cannot be mounted`);
  return {
    fill: (room = 0) => {
      try {
        writeFileSync(join(folder, 'filling'), Buffer.alloc(DISK_BYTES));
      } catch {
        // It took what fits.
      }
      if (room > 0) truncateSync(join(folder, 'filling'), statSync(join(folder, 'filling')).size - room);
    },
    close: () => {
      spawnSync('umount', ['--lazy', folder]);
    },
  };
}
