#!/usr/bin/env node
import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from './exit-code';
import { buildProgram } from './program';
import { say } from './terminal';

/** Errors that tell of a wrong command line or configuration, whichever module they come from. */
const USAGE_ERRORS = new Set([
  'UsageError',
  'BadQuestionError',
  'ConfigError',
  'MissingKeyError',
  'UnknownKeyError',
]);

async function main(): Promise<void> {
  process.stdout.on('error', leaveQuietly);
  const program = buildProgram((code) => {
    process.exitCode = code;
  });
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error);
  }
}

function report(error: unknown): ExitCode {
  // Help and version are "errors" too; commander has printed what there is to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.answered : EXIT.usage;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  say(`temporal-conductor: ${message}`);
  if (name === 'InterruptedError') return EXIT.interrupted;
  return USAGE_ERRORS.has(name) ? EXIT.usage : EXIT.failed;
}

/** Whoever read our output has read enough, as `head` does. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

void main();
