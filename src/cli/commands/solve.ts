import { Option } from 'commander';
import type { SolveRequest } from '../../client/conductor-client';
import { SOLVE_WORKFLOW } from '../../protocol/names';
import { MAX_QUESTION_BYTES } from '../../protocol/solve';
import { counted } from '../../trace/describe';
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
import { checkCostLimit } from '../cost-limit';
import { EXIT, type ExitCode, UsageError } from '../exit-code';
import { showRun } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { type Session, withSession } from '../session';
import { loadServable, loadSettings } from '../settings';
import { print, say } from '../terminal';
import { checkQuestion } from '../../client/steer';

interface SolveOptions {
  readonly config?: string;
  readonly json?: boolean;
  readonly detach?: boolean;
  readonly seed?: number;
  readonly allow?: string[];
  readonly deny?: string[];
  /** null: no limit. */
  readonly maxDepth?: number | null;
  /** USD; null: no limit. */
  readonly maxCost?: number | null;
  readonly approve?: 'plan' | 'all';
  readonly priority?: number;
  readonly tenant?: string;
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
    .option(
      '--tenant <name>',
      'for whom it is, where calls that wait are to be shared out fairly',
      readTenant,
    )
    .option('--json', 'print the whole result as JSON')
    .addOption(
      new Option(
        '--detach',
        'start the run, print its id and leave it to the workers that are there',
      ).conflicts('json'),
    )
    .action(async (question: string, options: SolveOptions) => {
      settle(await solve(question, options));
    });
};

/** Solves one question with a worker of its own, or hands it to the workers that are there. */
async function solve(argument: string, options: SolveOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const { config: file, detach = false, allow, deny, maxCost } = options;
  const loaded = await (detach ? loadSettings(file) : loadServable(file, { allow, deny }));
  if (typeof maxCost === 'number') checkCostLimit(loaded, { allow, deny });
  const question = argument === '-' ? await readAll(process.stdin) : argument;
  checkQuestion(question);

  const place = detach ? ({ role: 'look', outliving: '--detach' } as const) : ({ role: 'work' } as const);
  return withSession(loaded, { file, ...place }, async (session) => {
    const { conductor } = session;
    if (!detach) await sayUnfinished(session);
    if (!detach) interruption.throwIfAborted();
    const { id } = await conductor.start(requestOf(question, options));
    if (!detach) return showRun(session, id, interruption, options);
    // The id alone goes to stdout, for scripts.
    await print(id);
    say(`Follow it with: temporal-conductor watch ${id}`);
    return EXIT.answered;
  });
}

function requestOf(question: string, options: SolveOptions): SolveRequest {
  const { seed, allow, deny, approve, priority, tenant, maxDepth: depth, maxCost: costUsd } = options;
  const limits = { depth, costUsd };
  return { question, pool: { allow, deny }, seed, limits, approval: approve, priority, tenant };
}

/** Refuses at once what is too long: the program that writes to us may never stop. */
async function readAll(input: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_QUESTION_BYTES) {
      throw new UsageError(
        `the question on standard input has more than ${MAX_QUESTION_BYTES} bytes: shorten it, or give the part that matters`,
      );
    }
  }
  return Buffer.concat(chunks).toString('utf8').trim();
}

/** Other runs of this folder, left by an earlier command or watched by another: our worker serves them, too. */
async function sayUnfinished({ server, temporal, config }: Session): Promise<void> {
  // On a server that others share, what runs there is no news to the person here.
  if (!server.embedded) return;
  const query = `WorkflowType = '${SOLVE_WORKFLOW}' AND TaskQueue = '${config.temporal.taskQueue}' AND ExecutionStatus = 'Running'`;
  const { count } = await temporal.workflow.count(query);
  if (count > 0) say(`${counted(count, 'unfinished run')} of this folder will go on as well.`);
}
