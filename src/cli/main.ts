#!/usr/bin/env node
// The command line: which commands there are, and what becomes of what they throw.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import type { AddCommands } from './arguments';
import { EXIT, type ExitCode, exitCodeOfError } from './exit-code';
import { say } from './terminal';

type Load = () => Promise<AddCommands>;

const steering: Load = async () => (await import('./commands/steer.js')).addSteering;
const services: Load = async () => (await import('./commands/serve.js')).addServices;

/** Every command, in the order of the help, and the module that adds it. */
const COMMANDS: Readonly<Record<string, Load>> = {
  solve: async () => (await import('./commands/solve.js')).addSolve,
  watch: async () => (await import('./commands/watch.js')).addWatch,
  trace: async () => (await import('./commands/trace.js')).addTrace,
  cost: async () => (await import('./commands/cost.js')).addCost,
  depth: steering,
  limits: steering,
  approve: steering,
  hint: steering,
  retry: async () => (await import('./commands/retry.js')).addRetry,
  cancel: async () => (await import('./commands/cancel.js')).addCancel,
  up: services,
  worker: services,
  'codec-server': async () => (await import('./commands/codec-server.js')).addCodecServer,
  train: async () => (await import('../training/cli/index.js')).addTraining,
  doctor: async () => (await import('./commands/doctor.js')).addDoctor,
  pool: async () => (await import('./commands/pool.js')).addPool,
  store: async () => (await import('./commands/store.js')).addStore,
};

async function main(): Promise<void> {
  process.stdout.on('error', leaveQuietly);
  try {
    const program = await buildProgram(process.argv[2]);
    await program.parseAsync();
  } catch (error) {
    process.exitCode = report(error);
  }
}

/** Loads the module of the command that is called; all of them for help and for an unknown word. */
async function buildProgram(word = ''): Promise<Command> {
  const program = new Command('temporal-conductor')
    .description('A Conductor model writes a plan for a team of language models; Temporal runs it durably.')
    .version(readVersion())
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .showSuggestionAfterError();
  if (word === '--version' || word === '-V') return program;
  const called = Object.entries(COMMANDS).filter(([name]) => name === word);
  const loads = called.length > 0 ? called.map(([, load]) => load) : Object.values(COMMANDS);
  for (const add of await Promise.all([...new Set(loads)].map((load) => load()))) {
    add(program, (code) => {
      process.exitCode = code;
    });
  }
  return program;
}

const EXIT_CODES = `
Exit codes: 0 answered, 1 failed, 2 bad usage or configuration, 3 stopped by a limit, 130 interrupted.
The Temporal server is the one TEMPORAL_ADDRESS names, else one of this folder's own, started when needed.`;

function report(error: unknown): ExitCode {
  // Help and version are "errors" too; commander has printed what there is to say.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.answered : EXIT.usage;
  say(`temporal-conductor: ${error instanceof Error ? error.message : String(error)}`);
  return exitCodeOfError(error);
}

/** The reader of our output has read enough, as `head` does. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
}

/** The version of the installed package: it is in `package.json`, two folders above, and nowhere else. */
function readVersion(): string {
  const text = readFileSync(join(__dirname, '..', '..', 'package.json'), 'utf8');
  return (JSON.parse(text) as { readonly version: string }).version;
}

void main();
