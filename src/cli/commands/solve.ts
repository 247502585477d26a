import { Option } from 'commander';
import { checkQuestion } from '../../client/steer';
import type { SolveRequest } from '../../client/conductor-client';
import type { TrainableConfig as Config } from '../../training/config/schema';
import { MAX_QUESTION_BYTES } from '../../protocol/solve';
import {
  type AddCommands,
  CONFIG,
  readDepth,
  readIds,
  readInteger,
  readPriority,
  readTenant,
  readUsd,
} from '../arguments';
import { attachServer, fitToServer } from '../attach';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { sayUnfinished, showRun } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { openSession, openWorkerSession } from '../session';
import { loadServable, loadSettings } from '../settings';
import { print, say } from '../terminal';
import { checkCostLimit } from './retry';

/** The options of `solve` as the command line gives them. */
export interface SolveOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly seed?: number;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** null: no limit. */
  readonly maxDepth?: number | null;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly approve?: 'plan' | 'all';
  readonly priority?: number;
  readonly tenant?: string;
}

/** Solves one question with a worker of its own, or hands it to the workers that are there. */
export async function solve(argument: string, options: SolveOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const load = options.detach === true ? loadSettings : loadServable;
  const loaded = await load(options.config, poolOf(options));
  if (typeof options.maxCost === 'number') checkCostLimit(loaded, poolOf(options));
  const question = await readQuestion(argument);
  checkQuestion(question);
  if (options.detach === true) return detach(loaded, question, options);

  const server = await attachServer(loaded);
  const config = fitToServer(server, loaded, options.config);
  const session = await openWorkerSession(server, config, { graceMs: 0 });
  try {
    await sayUnfinished(session, config);
    interruption.throwIfAborted();
    const { id } = await session.conductor.start(requestOf(question, options));
    return await showRun(session, id, interruption, options);
  } finally {
    await session.close();
  }
}

/** Starts the run and leaves: the id goes to stdout, for scripts. */
async function detach(loaded: Config, question: string, options: SolveOptions): Promise<ExitCode> {
  const server = await attachServer(loaded, { outliving: '--detach' });
  const config = fitToServer(server, loaded, options.config);
  const session = await openSession(server, config);
  try {
    const { id } = await session.conductor.start(requestOf(question, options));
    await print(id);
    say(`Follow it with: temporal-conductor watch ${id}`);
    return EXIT.answered;
  } finally {
    await session.close();
  }
}

function requestOf(question: string, options: SolveOptions): SolveRequest {
  const { seed, approve, priority, tenant, maxDepth: depth, maxCost: costUsd } = options;
  const limits = { depth, costUsd };
  return {
    question,
    pool: poolOf(options),
    seed,
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(approve && { approval: approve }),
    priority,
    tenant,
  };
}

function poolOf({ allow, deny }: SolveOptions): { allow?: string[]; deny?: string[] } {
  return { ...(allow && { allow: [...allow] }), ...(deny && { deny: [...deny] }) };
}

/**
 * The question of a command line: the argument itself, or standard input for `-`.
 *
 * @throws UsageError when standard input has more than any run accepts
 */
async function readQuestion(argument: string): Promise<string> {
  return argument === '-' ? readAll(process.stdin) : argument;
}

async function readAll(input: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_QUESTION_BYTES) throw tooLong();
  }
  return Buffer.concat(chunks).toString('utf8').trim();
}

/** Told at once: whoever writes to us may never stop. */
function tooLong(): UsageError {
  return new UsageError(
    `the question on standard input has more than ${MAX_QUESTION_BYTES} bytes: shorten it, or give the part that matters`,
  );
}

/** `solve`: what the program is for. */
export const addSolve: AddCommands = (program, settle) => {
  program
    .command('solve')
    .description('solve a question with a worker of its own, and print the answer')
    .argument('<question>', '- reads it from standard input')
    .option(...CONFIG)
    .option('--seed <number>', 'sent to models that take one', readInteger)
    .option('--allow <ids>', 'use these workers only, e.g. gpt,sonnet', readIds)
    .option('--deny <ids>', 'do not use these workers', readIds)
    .option('--max-depth <number>', 'how deep the Conductor may call itself; none: no limit', readDepth)
    .option('--max-cost <usd>', 'end with the best answer so far before more is spent', readUsd)
    .addOption(
      new Option('--approve [which]', 'ask before a plan is run: the first one, or those of children too')
        .choices(['plan', 'all'])
        .preset('plan'),
    )
    .option(
      '--priority <1-5>',
      'who is served first where calls wait: 1 before 5, 3 without it',
      readPriority,
    )
    .option('--tenant <name>', 'for whom it is, where calls that wait shall be shared out fairly', readTenant)
    .option('--json', 'print the whole result as JSON')
    .addOption(
      new Option(
        '--detach',
        'start the run, print its id and leave it to the workers that are there',
      ).conflicts('json'),
    )
    .action(async (question: string, options: object) => {
      const { solve } = await import('./solve.js');
      settle(await solve(question, options));
    });
};
