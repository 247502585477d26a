import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { ConfigInput } from '../../../src/config/schema';
import { FileStore } from '../../../src/store/file-store';
import { runCommand, startCommand } from '../../../test/cli/command';
import type { Lesson } from '../../../test/support/lesson';
import { openSurroundings } from '../stack/surroundings';

/** A folder in which the product runs as anybody would run it: `up`, a trainer, a policy server, and commands. */
export interface Town {
  readonly store: FileStore;
  /** What worker and commands are configured by. */
  readonly config: ConfigInput;
  /** Base URL of the policy server, ending in `/v1`. */
  readonly policyUrl: string;
  /** Process of `up`, the worker. */
  readonly up: number;
  /** Of Temporal's server, `host:port`. */
  readonly address: string;
  /** Address of Temporal's web page. */
  readonly webPage: string;
  /**
   * Runs `temporal-conductor` with these arguments and returns what it printed.
   *
   * @throws Error with its own words where it did not exit with 0
   */
  readonly command: (...args: string[]) => Promise<string>;
  close(): Promise<void>;
}

/** @param delayMs what every call of the world's workers takes */
export async function openTown(lesson: Lesson, folder: string, delayMs = 0): Promise<Town> {
  await mkdir(folder, { recursive: true });
  const surroundings = await openSurroundings(lesson, folder, delayMs);
  await writeFile(join(folder, 'conductor.yaml'), stringify(surroundings.config));
  const up = startCommand(['up'], { cwd: folder });
  const [, address = ''] = await up.hear(/Temporal +(\S+),/);
  const [, webPage = ''] = await up.hear(/Web page +(\S+)/);
  await Promise.all([up.hear(/Ready\./), surroundings.startTrainer(address)]);
  return {
    store: new FileStore(join(folder, 'store')),
    config: surroundings.config,
    policyUrl: surroundings.policyUrl,
    up: up.pid,
    address,
    webPage,
    command: async (...args) => {
      const { code, stdout, stderr } = await runCommand(args, { cwd: folder });
      if (code === 0) return stdout.trim();
      throw new Error(`"temporal-conductor ${args.join(' ')}" exited with ${code}:\n${stderr}`);
    },
    close: async () => {
      await surroundings.close();
      up.signal('SIGTERM');
      await up.ended;
    },
  };
}
