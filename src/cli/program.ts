import { Command, InvalidArgumentError, Option } from 'commander';

import { COST_GROUPS, type CostGroup } from '../ledger/cost-groups';
import type { ExitCode } from './exit-code';
import { readVersion } from './version';

/** Told what a command's exit code is to be. */
type Settle = (code: ExitCode) => void;

const CONFIG = [
  '--config <file>',
  'configuration (default: $CONDUCTOR_CONFIG, then conductor.yaml)',
] as const;

/** The command line: its words, and what each starts. A command's own modules are loaded when it is called. */
export function buildProgram(settle: Settle): Command {
  const program = new Command('temporal-conductor')
    .description('A Conductor model writes a plan for a team of language models; Temporal runs it durably.')
    .version(readVersion())
    .addHelpText('after', EXIT_CODES)
    .exitOverride()
    .showSuggestionAfterError();

  for (const add of [
    addSolve,
    addUp,
    addWorker,
    addWatch,
    addTrace,
    addCost,
    addCancel,
    addDoctor,
    addPool,
  ]) {
    add(program, settle);
  }
  return program;
}

const EXIT_CODES = `
Exit codes: 0 answered, 1 failed, 2 bad usage or configuration, 3 stopped by a limit, 130 interrupted.
The Temporal server is the one TEMPORAL_ADDRESS names, else one of this folder's own, started when needed.`;

function addSolve(program: Command, settle: Settle): void {
  program
    .command('solve')
    .description('solve a question with a worker of its own, and print the answer')
    .argument('<question>', '- reads it from standard input')
    .option(...CONFIG)
    .option('--seed <number>', 'sent to models that take one', readInteger)
    .option('--allow <ids>', 'use these workers only, e.g. gpt,sonnet', readIds)
    .option('--deny <ids>', 'do not use these workers', readIds)
    .option('--json', 'print the whole result as JSON')
    .addOption(
      new Option(
        '--detach',
        'start the run, print its id and leave it to the workers that are there',
      ).conflicts('json'),
    )
    .action(async (question: string, options: object) => {
      const { solve } = await import('./commands/solve.js');
      settle(await solve(question, options));
    });
}

function addUp(program: Command, settle: Settle): void {
  program
    .command('up')
    .description('run a Temporal server and a worker on this machine, until Ctrl-C')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { up } = await import('./commands/up.js');
      settle(await up(options));
    });
}

function addWorker(program: Command, settle: Settle): void {
  program
    .command('worker')
    .description('run a worker for the Temporal server that TEMPORAL_ADDRESS names, until Ctrl-C')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { worker } = await import('./commands/worker.js');
      settle(await worker(options));
    });
}

function addWatch(program: Command, settle: Settle): void {
  program
    .command('watch')
    .description('follow a run to its end, and print the answer')
    .argument('<id>')
    .option(...CONFIG)
    .option('--json', 'print the whole result as JSON')
    .action(async (id: string, options: object) => {
      const { watch } = await import('./commands/watch.js');
      settle(await watch(id, options));
    });
}

function addTrace(program: Command, settle: Settle): void {
  program
    .command('trace')
    .description('print what happened in a run so far')
    .argument('<id>')
    .option(...CONFIG)
    .addOption(
      new Option('--format <format>').choices(['tree', 'json', 'mermaid', 'markdown']).default('tree'),
    )
    .action(async (id: string, options: { format: 'tree' | 'json' | 'mermaid' | 'markdown' }) => {
      const { trace } = await import('./commands/trace.js');
      settle(await trace(id, options));
    });
}

function addCost(program: Command, settle: Settle): void {
  program
    .command('cost')
    .description('sum what was spent, from the ledger')
    .option(...CONFIG)
    .addOption(new Option('--by <what>', 'a line each').choices(COST_GROUPS).default('day'))
    .option('--since <date>', 'first day, e.g. 2026-11-01')
    .option('--until <date>', 'last day')
    .option('--utc', 'days of UTC instead of those of the local time zone')
    .addOption(new Option('--csv', 'print comma-separated values').conflicts('json'))
    .option('--json', 'print the sums as JSON')
    .action(async (options: { by: CostGroup }) => {
      const { cost } = await import('./commands/cost.js');
      settle(await cost(options));
    });
}

function addCancel(program: Command, settle: Settle): void {
  program
    .command('cancel')
    .description('stop a run, and wait until it has ended')
    .argument('<id>')
    .option(...CONFIG)
    .action(async (id: string, options: object) => {
      const { cancel } = await import('./commands/cancel.js');
      settle(await cancel(id, options));
    });
}

function addDoctor(program: Command, settle: Settle): void {
  program
    .command('doctor')
    .description('check what is installed, reachable and allowed, and say how to mend what is not')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { doctor } = await import('./commands/doctor.js');
      settle(await doctor(options));
    });
}

function addPool(program: Command, settle: Settle): void {
  program
    .command('pool')
    .description('look after the pool')
    .command('check')
    .description('make one tiny call to the Conductor and to each worker')
    .option(...CONFIG)
    .action(async (options: object) => {
      const { checkPool } = await import('./commands/check-pool.js');
      settle(await checkPool(options));
    });
}

function readInteger(value: string): number {
  if (/^-?\d{1,15}$/.test(value)) return Number(value);
  throw new InvalidArgumentError('Expected a whole number.');
}

function readIds(value: string, before: readonly string[] = []): string[] {
  const ids = value.split(',').map((id) => id.trim());
  if (ids.every((id) => id !== '')) return [...before, ...ids];
  throw new InvalidArgumentError('Expected ids of workers, separated by commas.');
}
