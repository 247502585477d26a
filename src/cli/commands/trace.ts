import { Option } from 'commander';
import type { SolveResult } from '../../protocol/solve';
import { COST_GROUPS, type CostGroup } from '../../store/costs';
import { renderMarkdown } from '../../trace/markdown';
import { renderMermaid } from '../../trace/mermaid';
import { renderTree } from '../../trace/tree';
import { type AddCommands, CONFIG } from '../arguments';
import { attachServer, fitToServer } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { explainUnknown, showRun, toJson } from '../follow-run';
import { listenForInterruption } from '../interruption';
import { openSession, openWorkerSession, type Session, type WorkerSession } from '../session';
import { loadSettings } from '../settings';
import { columnsOf, paintFor, print } from '../terminal';

const FORMATS = {
  tree: (trace: SolveResult): string => {
    const columns = columnsOf(process.stdout);
    const paint = paintFor(process.stdout);
    return renderTree(trace, { paint, columns });
  },
  json: toJson,
  mermaid: renderMermaid,
  markdown: renderMarkdown,
} as const;

export type TraceFormat = keyof typeof FORMATS;

/** Prints a run, running or ended, as it is now. Needs no worker. */
export async function trace(
  id: string,
  options: { readonly config?: string; readonly format: TraceFormat },
): Promise<ExitCode> {
  const config = await loadSettings(options.config);
  const session = await openSession(await attachServer(config, { used: true }), config);
  try {
    const found = await session.conductor.trace(id).catch((error: unknown) => {
      throw explainUnknown(error, id, session);
    });
    await print(FORMATS[options.format](found));
    return EXIT.answered;
  } finally {
    await session.close();
  }
}

/** The options that every command about a known run takes. */
export interface RunOptions {
  readonly config?: string;
  readonly json?: boolean;
}

/** Follows a run to its end. */
export async function watch(id: string, options: RunOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  const session = await openRunSession(options.config);
  try {
    return await showRun(session, id, interruption, options);
  } finally {
    await session.close();
  }
}

/** Commands that look and change nothing. */
export const addViews: AddCommands = (program, settle) => {
  program
    .command('watch')
    .description('follow a run to its end, and print the answer')
    .argument('<id>')
    .option(...CONFIG)
    .option('--json', 'print the whole result as JSON')
    .action(async (id: string, options: object) => {
      const { watch } = await import('./trace.js');
      settle(await watch(id, options));
    });

  program
    .command('trace')
    .description('print what happened in a run so far')
    .argument('<id>')
    .option(...CONFIG)
    .addOption(
      new Option('--format <format>').choices(['tree', 'json', 'mermaid', 'markdown']).default('tree'),
    )
    .action(async (id: string, options: { format: 'tree' | 'json' | 'mermaid' | 'markdown' }) => {
      const { trace } = await import('./trace.js');
      settle(await trace(id, options));
    });

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
      const { cost } = await import('./cost.js');
      settle(await cost(options));
    });
};

/**
 * A session about a run that there is. Beside the embedded server it brings a worker, so that a run left behind goes on
 * and a cancellation is heard.
 *
 * @param named the file that `--config` names, if any
 * @throws UsageError where no run was ever started in this folder
 */
export async function openRunSession(named: string | undefined): Promise<Session | WorkerSession> {
  const loaded = await loadSettings(named);
  const server = await attachServer(loaded, { used: true });
  const config = fitToServer(server, loaded, named);
  return server.embedded ? openWorkerSession(server, config, { graceMs: 0 }) : openSession(server, config);
}
