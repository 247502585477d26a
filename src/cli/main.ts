#!/usr/bin/env node

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { z } from 'zod';
import { addTraining } from '../training/cli';
import type { Settle } from './arguments';
import { addCare } from './commands/doctor';
import { addServices } from './commands/serve';
import { addSolve } from './commands/solve';
import { addSteering } from './commands/steer';
import { addViews } from './commands/trace';
import { EXIT, type ExitCode, exitCodeOfError } from './exit-code';
import { say } from './terminal';

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
  say(`temporal-conductor: ${error instanceof Error ? error.message : String(error)}`);
  return exitCodeOfError(error);
}

/** Whoever read our output has read enough, as `head` does. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

void main();

const EXIT_CODES = `
Exit codes: 0 answered, 1 failed, 2 bad usage or configuration, 3 stopped by a limit, 130 interrupted.
The Temporal server is the one TEMPORAL_ADDRESS names, else one of this folder's own, started when needed.`;

/** The command line: its words, and what each starts. */
function buildProgram(settle: Settle): Command {
  const program = new Command('temporal-conductor')
    .description('A Conductor model writes a plan for a team of language models; Temporal runs it durably.')
    .version(readVersion())
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .showSuggestionAfterError();
  for (const add of [addSolve, addViews, addSteering, addServices, addTraining, addCare])
    add(program, settle);
  return program;
}

const packageSchema = z.object({ version: z.string() });

/** The version of the installed package: it is in `package.json`, two folders above, and nowhere else. */
function readVersion(): string {
  const text = readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8');
  return packageSchema.parse(JSON.parse(text)).version;
}
