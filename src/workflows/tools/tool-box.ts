import { ActivityCancellationType, log, proxyActivities } from '@temporalio/workflow';
import type { ConductorActivities } from '../../protocol/activity-contract';
import type { ResolvedRun, RunWorker } from '../../protocol/cards';
import type { ToolCard } from '../../protocol/tool-cards';
import { LIST_TOOLS } from '../../protocol/names';
import type { ListedTool, ListedTools } from '../../protocol/tool-use';

/** Tools of one run: listed once, when the first of its steps needs them, and counted over all of its steps. */
export class ToolBox {
  private listed: Promise<ListedTools> | null = null;
  private made = 0;
  /** The caller let a call wait in vain: further ones would wait as long, and cost a turn each, for nobody. */
  isCallerGone = false;

  constructor(private readonly run: Pick<ResolvedRun, 'toolset' | 'storeId' | 'heartbeatMs'>) {}

  /** Calls that may still begin. */
  get callsLeft(): number {
    return Math.max(0, (this.run.toolset?.calls ?? 0) - this.made);
  }

  /** Counts a call that was asked for, made or not: the run's result holds all of them. Returns whether it may be made. */
  take(): boolean {
    const isAllowed = this.callsLeft > 0;
    this.made += 1;
    return isAllowed;
  }

  /**
   * Returns the tools of a child run. It may make half of the calls that are left, which count as made: a tree of runs
   * never makes more than its root may.
   */
  share(): ResolvedRun['toolset'] {
    const { toolset } = this.run;
    if (toolset === undefined) return undefined;
    const calls = Math.ceil(this.callsLeft / 2);
    this.made += calls;
    return { ...toolset, calls };
  }

  cardOf({ card }: ListedTool): ToolCard | undefined {
    return this.run.toolset?.cards.find(({ name }) => name === card);
  }

  /** Lists the tools of the run, which then hold for all of it. */
  list(remainingMs: number): Promise<ListedTools> {
    this.listed ??= this.fetch(remainingMs);
    return this.listed;
  }

  private async fetch(remainingMs: number): Promise<ListedTools> {
    const { toolset, storeId, heartbeatMs } = this.run;
    const activities = proxyActivities<ConductorActivities>({
      scheduleToCloseTimeout: remainingMs,
      heartbeatTimeout: heartbeatMs,
      cancellationType: ActivityCancellationType.TRY_CANCEL,
      summary: 'list the tools',
    });
    const listed = await activities[LIST_TOOLS](toolset?.cards ?? [], storeId);
    for (const problem of listed.problems) log.warn(`a tool is missing: ${problem}`);
    return listed;
  }
}

/** Whether a worker may call tools in this run. */
export function hasTools(worker: RunWorker, { toolset }: Pick<ResolvedRun, 'toolset'>): boolean {
  return toolset !== undefined && worker.kind === 'model' && (worker.tools ?? []).length > 0;
}

/** Returns the tools that a worker's card lists: a whole entry, or one tool of it. */
export function toolsOf(worker: RunWorker, { tools }: ListedTools): readonly ListedTool[] {
  const names = worker.kind === 'model' ? (worker.tools ?? []) : [];
  return tools.filter(({ card, tool }) => names.includes(card) || names.includes(`${card}.${tool}`));
}
