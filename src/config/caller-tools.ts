import type { ResolvedRun, RunWorker } from '../protocol/cards';
import type { SolveInput } from '../protocol/input';
import type { ToolCard } from '../protocol/tool-cards';
import { CALLER_TOOLS } from '../protocol/tool-use';
import { durationMs } from './duration';
import type { Config } from './schema';

/** Names that the Conductor is told: a coding agent brings a dozen. */
const MOST_TOLD = 30;

/**
 * Returns a run whose models may call the caller's functions. One that brings none has none, whatever an earlier run had
 * whose settings it takes over.
 */
export function withCallerTools(
  run: ResolvedRun,
  { limits }: Pick<Config, 'limits'>,
  brought: SolveInput['callerTools'],
): ResolvedRun {
  if (brought === undefined) return run.toolset === undefined ? run : withoutCaller(run);
  const { toolTurns: turns, toolCalls: calls, toolResultBytes: resultBytes, callerWait } = limits;
  const { list, names, lastStep, mustCall } = brought;
  const card: ToolCard = {
    kind: 'caller',
    name: CALLER_TOOLS,
    description: `functions of the one who asks: ${names.slice(0, MOST_TOLD).join(', ')}`,
    list,
    ...(lastStep === true && { lastStep }),
    ...(mustCall === true && { mustCall }),
    timeoutMs: durationMs(callerWait),
  };
  const { toolset = { cards: [], turns, calls, resultBytes }, workers } = withoutCaller(run);
  return {
    ...run,
    toolset: { ...toolset, cards: [...toolset.cards, card] },
    workers: workers.map((worker) =>
      canCall(worker) ? { ...worker, tools: [...(worker.tools ?? []), CALLER_TOOLS] } : worker,
    ),
  };
}

/** Whether models of a card take tools at all: models of this machine do not. */
function canCall(worker: RunWorker): worker is Extract<RunWorker, { kind: 'model' }> {
  return worker.kind === 'model' && worker.provider !== 'local' && worker.provider !== 'policy';
}

function withoutCaller({ toolset, ...run }: ResolvedRun): ResolvedRun {
  const cards = (toolset?.cards ?? []).filter(({ kind }) => kind !== 'caller');
  return {
    ...run,
    ...(toolset !== undefined && cards.length > 0 && { toolset: { ...toolset, cards } }),
    workers: run.workers.map((worker) => {
      if (worker.kind !== 'model' || worker.tools === undefined) return worker;
      const { tools, ...plain } = worker;
      const left = tools.filter((each) => each !== CALLER_TOOLS);
      return left.length === 0 ? plain : { ...plain, tools: left };
    }),
  };
}
