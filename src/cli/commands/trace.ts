import { Option } from 'commander';
import type { SolveResult } from '../../protocol/solve';
import { renderMarkdown } from '../../trace/markdown';
import { renderMermaid } from '../../trace/mermaid';
import { renderTree } from '../../trace/tree';
import { type AddCommands, CONFIG } from '../arguments';
import { EXIT, type ExitCode } from '../exit-code';
import { explainUnknown, toJson } from '../follow-run';
import { withSession } from '../session';
import { loadSettings } from '../settings';
import { columnsOf, paintFor, print } from '../terminal';

const FORMATS = {
  tree: (trace: SolveResult): string =>
    renderTree(trace, { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) }),
  json: toJson,
  mermaid: renderMermaid,
  markdown: renderMarkdown,
} as const;

interface TraceOptions {
  readonly config?: string;
  readonly format: keyof typeof FORMATS;
}

/** `trace`: a run, running or ended, as it is now. */
export const addTrace: AddCommands = (program, settle) => {
  program
    .command('trace')
    .description('print what happened in a run so far')
    .argument('<id>')
    .option(...CONFIG)
    .addOption(new Option('--format <format>').choices(Object.keys(FORMATS)).default('tree'))
    .action(async (id: string, options: TraceOptions) => {
      settle(await trace(id, options));
    });
};

async function trace(id: string, { config: file, format }: TraceOptions): Promise<ExitCode> {
  return withSession(await loadSettings(file), { file, role: 'look', used: true }, async (session) => {
    const found = await session.conductor.trace(id).catch((error: unknown) => {
      throw explainUnknown(error, id, session);
    });
    await print(FORMATS[format](found));
    return EXIT.answered;
  });
}
