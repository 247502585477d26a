#!/usr/bin/env node
// The command line: parses the arguments, and turns an error into a message and an exit code.

import './require-node';
import { setImmediate } from 'node:timers/promises';
import { CommanderError } from 'commander';
import { codeOf, reasonOf } from '../errors';
import { EXIT, type ExitCode, exitCodeOfError } from './kit/ending';
import { buildProgram } from './program';
import { outputLoss, say, surviveLosses } from './kit/terminal';

/** Delay before a forced exit: a followed run's last poll may stay open for a minute, and keep the process alive. */
const GRACE_MS = 200;

async function main(): Promise<void> {
  surviveLosses();
  try {
    await buildProgram().parseAsync();
  } catch (error) {
    process.exitCode = report(error);
  }
  // The stream of a file tells of a failure a moment later.
  await setImmediate();
  const loss = outputLoss();
  if (loss !== null) {
    say(`temporal-conductor: ${loss}`, { level: 'ERROR' });
    if ((process.exitCode ?? EXIT.answered) === EXIT.answered) process.exitCode = EXIT.failed;
  }
  setTimeout(() => process.exit(), GRACE_MS).unref();
}

function report(error: unknown): ExitCode {
  // Help and version are "errors" too; commander has already printed them.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.answered : EXIT.usage;
  say(`temporal-conductor: ${sentenceOf(error)}`, { level: 'ERROR' });
  return exitCodeOfError(error);
}

/** What to do about errors of the operating system, which say only what happened. */
const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['ENOSPC', 'make room on that disk'],
  ['EDQUOT', 'make room in your quota of that disk'],
  ['EROFS', 'go to a folder that can be written'],
  ['EACCES', 'change its permissions'],
  ['EMFILE', 'let this process open more files, see "ulimit -n"'],
  ['ENFILE', 'let this machine open more files'],
]);

function sentenceOf(error: unknown): string {
  const remedy = REMEDIES.get(codeOf(error));
  const reason = reasonOf(error);
  return remedy === undefined ? reason : `${reason}: ${remedy}, and try again`;
}

void main();
