import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { readRun } from '../client/trace-reader';
import { differencesOf, solvingDigestOf } from '../config/digest';
import type { ConfigDigest } from '../protocol/activity-contract';
import type { Session } from './session';
import { say } from './terminal';

/** A run is resolved in its first workflow task: where a worker is free, at once. */
const PATIENCE_MS = 3_000;

/** Says in one line where the worker that began a run read another version of the configuration than this command. */
export async function sayOtherVersion({ temporal, config, file }: Session, id: string): Promise<void> {
  const patience = pause(PATIENCE_MS, null, { ref: false });
  const theirs = await Promise.race([readVersion(temporal, id), patience]).catch(() => null);
  const different = theirs === null ? [] : differencesOf(theirs, solvingDigestOf(config));
  if (different.length === 0) return;
  const name = file ?? process.env.CONDUCTOR_CONFIG ?? 'conductor.yaml';
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
