import { unwatchFile, watchFile } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { readRun } from '../client/trace-reader';
import { changesBetween, differencesOf, solvingDigestOf } from '../config/digest';
import { configPath } from '../config/load';
import { reasonOf } from '../reason-of';
import type { ConfigDigest } from '../protocol/activity-contract';
import type { Config } from '../config/schema';
import { loadServable, type WorkOptions } from './load-settings';
import type { Session } from './session';
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
  const name = nameOf(options.config);
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

function nameOf(file: string | undefined): string {
  return file ?? process.env.CONDUCTOR_CONFIG ?? 'conductor.yaml';
}

/** A run is resolved in its first workflow task: where a worker is free, at once. */
const PATIENCE_MS = 3_000;

/** Says in one line where the worker that began a run read another version of the configuration than this command. */
export async function sayOtherVersion({ temporal, config, file }: Session, id: string): Promise<void> {
  const patience = pause(PATIENCE_MS, null, { ref: false });
  const theirs = await Promise.race([readVersion(temporal, id), patience]).catch(() => null);
  const different = theirs === null ? [] : differencesOf(theirs, solvingDigestOf(config));
  if (different.length === 0) return;
  const name = nameOf(file);
  say(
    `The worker that began this run read another version of ${name}, and the run keeps that: ` +
      `${different.join(', ')} ${different.length === 1 ? 'differs' : 'differ'}. ` +
      'To have yours hold for the next one, start that worker again.',
  );
}

async function readVersion(temporal: Client, id: string): Promise<ConfigDigest | null> {
  for await (const { origin, trace } of readRun(temporal, id, true)) {
    if (origin !== null || trace.status !== 'running') return origin?.config ?? null;
  }
  return null;
}
