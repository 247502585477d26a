import { unwatchFile, watchFile } from 'node:fs';
import { changesBetween } from '../config/digest';
import { configPath } from '../config/load';
import { reasonOf } from '../reason-of';
import type { Config } from '../config/schema';
import { loadServable, type WorkOptions } from './load-settings';
import { say } from './terminal';

/** Polls the file rather than listens: editors replace files, and shared folders report no change. */
const POLL_MS = 500;

/**
 * Prints a line whenever the configuration of a long-lived command changes, since the command goes on with what it read.
 *
 * @param command what to restart
 * @returns stops watching
 */
export function watchConfig(loaded: Config, options: WorkOptions, command: string): () => void {
  const name = options.config ?? process.env.CONDUCTOR_CONFIG ?? 'conductor.yaml';
  const path = configPath({ env: process.env, cwd: process.cwd(), path: options.config });
  const restart = `"${command}" goes on with what it read: restart it to use the new version`;
  const report = async (): Promise<void> => {
    try {
      const changes = changesBetween(loaded, await loadServable(options));
      if (changes.length > 0) say(`${name} has changed (${changes.join(', ')}). ${restart}.`);
    } catch (error) {
      say(`${name} has changed, and cannot be used: ${reasonOf(error)}. ${restart} once it is mended.`);
    }
  };
  let last = Promise.resolve();
  const poll = (): void => {
    last = last.then(report);
  };
  watchFile(path, { interval: POLL_MS }, poll);
  return () => {
    unwatchFile(path, poll);
  };
}
