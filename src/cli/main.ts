#!/usr/bin/env node
// The command line: reads the arguments, and turns what a command throws into a sentence and an exit code.

import { CommanderError } from 'commander';
import { reasonOf } from '../errors';
import { EVALUATION } from '../evaluation/cli/add-on';
import { GATEWAY } from '../gateway/cli/add-on';
import { TRAINING } from '../training/cli/add-on';
import { readVersion } from '../version';
import { addOns } from './add-ons';
import { EXIT, type ExitCode, exitCodeOfError } from './ending';
import { buildProgram } from './program';
import { endWithReader, say } from './terminal';

/** A run that a command follows no longer answers its last poll up to a minute later, which would keep the shell. */
const GRACE_MS = 200;

async function main(): Promise<void> {
  process.stdout.on('error', endWithReader);
  addOns.push(EVALUATION, TRAINING, GATEWAY);
  const settle = (code: ExitCode): void => {
    process.exitCode = code;
  };
  try {
    await buildProgram(readVersion(), settle).parseAsync();
  } catch (error) {
    settle(report(error));
  }
  setTimeout(() => process.exit(), GRACE_MS).unref();
}

function report(error: unknown): ExitCode {
  // Help and version are "errors" too; commander has printed what there is to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.answered : EXIT.usage;
  say(`temporal-conductor: ${sentenceOf(error)}`);
  return exitCodeOfError(error);
}

/** Temporal's client says what failed, and keeps the reason as the cause: "Failed to start Workflow", and no more. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isBare = error.name === 'ServiceError' && error.cause instanceof Error;
  return isBare ? `${error.message}: ${reasonOf(error.cause)}` : error.message;
}

void main();
