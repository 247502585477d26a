#!/usr/bin/env node
// The command line: parses the arguments, and turns an error into a message and an exit code.

import { CommanderError } from 'commander';
import { reasonOf } from '../errors';
import { EXIT, type ExitCode, exitCodeOfError } from './ending';
import { buildProgram } from './program';
import { endWithReader, say } from './terminal';

/** Delay before a forced exit: a followed run's last poll may stay open for a minute, and keep the process alive. */
const GRACE_MS = 200;

async function main(): Promise<void> {
  process.stdout.on('error', endWithReader);
  try {
    await buildProgram().parseAsync();
  } catch (error) {
    process.exitCode = report(error);
  }
  setTimeout(() => process.exit(), GRACE_MS).unref();
}

function report(error: unknown): ExitCode {
  // Help and version are "errors" too; commander has already printed them.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.answered : EXIT.usage;
  say(`temporal-conductor: ${sentenceOf(error)}`);
  return exitCodeOfError(error);
}

/** Adds the cause to an error of Temporal's client that says only what failed, e.g. "Failed to start Workflow". */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBare = error.name === 'ServiceError' && error.cause instanceof Error;
  return isBare ? `${error.message}: ${reasonOf(error.cause)}` : error.message;
}

void main();
