import type { SolveResult } from '../../protocol/solve';
import { renderMarkdown } from '../../trace/markdown';
import { renderMermaid } from '../../trace/mermaid';
import { renderTree } from '../../trace/tree';
import { attachServer } from '../attach';
import { EXIT, type ExitCode } from '../exit-code';
import { explainUnknown } from '../follow-run';
import { loadSettings } from '../load-settings';
import { openSession } from '../open-session';
import { toJson } from '../print-result';
import { columnsOf, paintFor, print } from '../terminal';

const FORMATS = {
  tree: (trace: SolveResult): string => {
    const columns = columnsOf(process.stdout);
    const paint = paintFor(process.stdout);
    return renderTree(trace, { paint, ...(columns !== undefined && { columns }) });
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
