import type { SolveResult } from '../../protocol/solve';
import { renderMarkdown } from '../../trace/markdown';
import { renderMermaid } from '../../trace/mermaid';
import { renderTree } from '../../trace/tree';
import { EXIT, type ExitCode } from '../exit-code';
import { withRun } from '../find-run';
import { sayHowToComeBack, sayResumed, showRun, type ShowOptions } from '../follow-run';
import { listenForInterruption, unlessInterrupted } from '../interruption';
import { watchForMissingWorker } from '../queues';
import type { Session } from '../session';
import type { WorkOptions } from '../load-settings';
import { columnsOf, paintFor, print, say, toJson } from '../terminal';

/** `watch`: follows a run to its end. */
export function watch(given: string, options: ShowOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(given, options, 'follow', async (session, id) => {
    await sayResumed(session, options.config, id);
    return showRun(session, id, interruption, options);
  });
}

const FORMATS = {
  tree: (trace: SolveResult): string =>
    renderTree(trace, { paint: paintFor(process.stdout), columns: columnsOf(process.stdout) }),
  json: toJson,
  mermaid: renderMermaid,
  markdown: renderMarkdown,
} as const;

interface TraceOptions extends WorkOptions {
  readonly format: keyof typeof FORMATS;
}

/** `trace`: a run, running or ended, as it is now. */
export function trace(given: string, options: TraceOptions): Promise<ExitCode> {
  return withRun(given, options, 'look', async ({ conductor }, id) => {
    await print(FORMATS[options.format](await conductor.trace(id)), { painted: options.format === 'tree' });
    return EXIT.answered;
  });
}

/** `cancel`: stops a run, and waits until it has ended. */
export function cancel(given: string, options: WorkOptions): Promise<ExitCode> {
  const interruption = listenForInterruption();
  return withRun(given, options, 'follow', async (session, id) => {
    await sayResumed(session, options.config, id);
    const stopLooking = watchForMissingWorker(session, id);
    const code = await unlessInterrupted(interruption, cancelAndWait(session, id)).finally(stopLooking);
    if (code === undefined) await sayHowToComeBack(session, id);
    return code ?? EXIT.interrupted;
  });
}

async function cancelAndWait({ conductor }: Session, id: string): Promise<ExitCode> {
  const { status } = await conductor.trace(id);
  if (status !== 'running') {
    say(`Run ${id} had already ended: ${status}.`);
    return EXIT.failed;
  }
  await conductor.cancel(id);
  say(`Asked run ${id} to stop …`);
  for await (const { status } of conductor.watch(id)) {
    if (status === 'running') continue;
    const isCancelled = status === 'cancelled';
    say(isCancelled ? `Run ${id} is cancelled.` : `Run ${id} ended before it could be cancelled: ${status}.`);
    return isCancelled ? EXIT.answered : EXIT.failed;
  }
  throw new Error(`the history of run ${id} stopped without an end of the run: ask for its trace`);
}
